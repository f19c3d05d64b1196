// Reads processes with bpmn-moddle, which knows the model of BPMN and its diagrams: `node read.mjs FILE...`.
// Nothing may be unknown or refer to what is not there, and every node and flow has to be drawn once.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { exports } = JSON.parse(readFileSync(`${process.env.MODDLE}/package.json`));
const entry = exports['.'].import ?? exports['.'];
const { BpmnModdle } = await import(pathToFileURL(`${process.env.MODDLE}/${entry.default ?? entry}`).href);

for (const file of process.argv.slice(2)) {
  const { rootElement, warnings } = await new BpmnModdle().fromXML(readFileSync(file, 'utf8'), 'bpmn:Definitions');
  assert.deepEqual(warnings, [], file);
  const [process] = rootElement.rootElements.filter((element) => element.$type === 'bpmn:Process');
  assert.equal(process.isExecutable, false, file);
  const drawn = rootElement.diagrams[0].plane.planeElement;
  const of = (type) => drawn.filter((element) => element.$type === type).map((element) => element.bpmnElement);
  const isFlow = (element) => element.$type === 'bpmn:SequenceFlow';
  const ids = (elements) => elements.map((element) => element.id).sort();
  assert.deepEqual(ids(of('bpmndi:BPMNShape')), ids(process.flowElements.filter((element) => !isFlow(element))), file);
  assert.deepEqual(ids(of('bpmndi:BPMNEdge')), ids(process.flowElements.filter(isFlow)), file);
}
console.log(`tests/outside/bpmn: bpmn-moddle reads ${process.argv.length - 2} processes`);
