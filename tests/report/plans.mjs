// The plans that the page puts together, without a page: node plans.mjs presets PAGES COUNT, where PAGES is a file of
// what pages know, holds them against what was planned for presets when the pages were made, so many at least; node plans.mjs random CUVEE TIMES TEMPLATE PAGE [TEMPLATE PAGE ...] against what the
// command says of random choices.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Choices, conditions, deployment, random, uncomputed } from './load.mjs';

const [what, ...words] = process.argv.slice(2);

/** Why there may be a plan all the same. */
const UNKNOWN = /imported|computed|depends on what is present/;

/** What deploys the elements that are present where inputs have these values, by position. */
function planOf(data, isPresent, value) {
  const holds = conditions(data.writing, data.elements.length, isPresent, value);
  return uncomputed(data.writing, holds) ?? deployment(data.plans.parts, data.plans.words, holds);
}

/** For each preset, that it is the same that was planned for it; why there are none is counted. */
function presets([file, least]) {
  const counted = new Map();
  const count = (why) => counted.set(why, (counted.get(why) ?? 0) + 1);
  for (const { name, data } of JSON.parse(readFileSync(file, 'utf8'))) {
    const { parts, apart, deploy, words } = data.plans;
    data.presets.forEach(({ id, error, present, inputs }, at) => {
      if (error != null || deploy[at] == null) return;
      if (!parts) return count(apart);
      const set = new Set(present);
      const { plan, errors, why } = planOf(data, (element) => set.has(element), (input) => inputs[data.inputs[input].name]);
      count(errors ? 'impossible' : (why ?? 'put together'));
      if (errors || deploy[at].errors) {
        if (errors) assert.deepEqual(sorted(errors), sorted(deploy[at].errors ?? []), `${name} ${id}`);
        else assert.ok(UNKNOWN.test(why), `${name} ${id}: ${JSON.stringify(deploy[at].errors)}`);
        return;
      }
      const known = { head: deploy[at].head, changes: [], steps: deploy[at].steps.map(([wave, ...rest]) => [wave, ...rest.map((word) => words[word])]) };
      if (plan) assert.deepEqual(plan, known, `${name} ${id}`);
      else assert.ok(UNKNOWN.test(why), `${name} ${id}: ${why}, but ${known.head}`);
    });
  }
  console.log(JSON.stringify([...counted]));
  assert.ok(counted.get('put together') > least, JSON.stringify([...counted]));
}

const sorted = (errors) => errors.map(({ message, help }) => `${message} ${help}`).sort();

/** The errors that the command reports, each with what helps. */
const reported = (stderr) => stderr.split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter(({ severity }) => severity === 'error');

/** The lines of a plan, as the command writes them, but for the spaces. */
const lines = ({ head, steps }) => [
  head,
  ...steps.map(([wave, element, operation, implementation, place, after]) => {
    const where = place === '' || /^(by the orchestrator|nothing to run)$/.test(implementation) ? '' : `on ${place}`;
    // What runs nothing has a column in the page, but no round.
    const round = implementation === 'nothing to run' ? '' : wave;
    return [round, element, operation, implementation, where, after].filter((word) => word !== '').join(' ');
  }),
];

/** Random choices, whose plans are those that the command makes of the values. */
function randomly([cuvee, times, ...files]) {
  for (let at = 0; at < files.length; at += 2) {
    const [template, page] = files.slice(at);
    const data = JSON.parse(readFileSync(page, 'utf8').split('id="data">')[1].split('</script>')[0]);
    assert.ok(data.plans.parts, `${template}: ${data.plans.apart}`);
    const [choices, rng, seen] = [new Choices(data.cnf, data.inputs), random(at + 1), new Map()];
    for (let time = 0; time < times; time++) {
      const decisions = new Map();
      data.inputs.forEach(({ cases }, input) => rng.chance(0.7) && decisions.set(input, rng.below(cases.length)));
      const complete = choices.under(decisions).consistent ? choices.complete(decisions, data.presets[0].cases) : null;
      const model = complete && choices.search(choices.literals(complete));
      const values = complete && [...complete].map(([input, one]) => [data.inputs[input].name, data.inputs[input].cases[one].value]);
      const key = JSON.stringify(values);
      if (!model || values.some(([, value]) => value == null) || seen.has(key)) continue;
      const said = spawnSync(cuvee, ['-q', '--message-format', 'json', 'plan', template, ...values.flatMap(([name, value]) => ['-i', `${name}=${value}`])], { encoding: 'utf8', maxBuffer: 1 << 26 });
      const isPresent = (element) => model[Math.abs(data.elements[element].literal)] === (data.elements[element].literal > 0 ? 1 : -1);
      const { plan, errors, why } = planOf(data, isPresent, (input) => new Map(values).get(data.inputs[input].name));
      seen.set(key, errors ? 'impossible' : (why ?? 'put together'));
      if (errors) assert.deepEqual(sorted(errors), sorted(reported(said.stderr)), `${template} ${key}`);
      else if (plan) assert.deepEqual(lines(plan), said.stdout.trimEnd().split('\n').map((line) => line.trim().replace(/\s+/g, ' ')), `${template} ${key} ${said.stderr}`);
      else assert.ok(UNKNOWN.test(why), `${template} ${key}: ${why}, but ${said.stdout}`);
    }
    const counted = {};
    for (const why of seen.values()) counted[why] = (counted[why] ?? 0) + 1;
    console.log(JSON.stringify({ template, ...counted }));
  }
}

if (what === 'presets') presets(words);
else randomly(words);
