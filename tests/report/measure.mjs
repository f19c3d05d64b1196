// How long the page thinks after a choice, on 200 inputs with local constraints: `node tests/report/measure.mjs`.

import { Choices, random } from './load.mjs';

const rng = random(7);
const inputs = [];
let vars = 0;
while (inputs.length < 200) {
  const cases = inputs.length % 4 === 3 ? Array.from({ length: 3 }, () => ({ literal: ++vars })) : [{ literal: ++vars }, { literal: -vars }];
  inputs.push({ cases, default: 0 });
}
const clauses = [];
const origins = [];
const add = (clause, origin) => (clauses.push(clause), origins.push(origin));
for (const { cases } of inputs) {
  if (cases.length < 3) continue;
  add(cases.map(({ literal }) => literal), null);
  cases.forEach((a, at) => cases.slice(0, at).forEach((b) => add([-a.literal, -b.literal], null)));
}
const near = (at) => inputs[Math.min(199, Math.max(0, at + rng.below(9) - 4))].cases[rng.below(2)].literal * (rng.chance(0.5) ? 1 : -1);
const elements = [];
while (clauses.length < 5000) {
  // An element is present where two of three inputs say so, or where the element before is; and some inputs need each other.
  const at = rng.below(200);
  const [a, b, c] = [near(at), near(at), near(at)];
  const before = elements.length ? elements[elements.length - 1 - rng.below(Math.min(4, elements.length))] : near(at);
  const element = ++vars;
  elements.push(element);
  const origin = element;
  for (const [x, y] of [[a, b], [a, c], [b, c]]) {
    add([-x, -y, element], origin);
    add([x, y, -element, before], origin);
  }
  add([-before, element, a], origin);
  if (elements.length % 5 === 0) add([near(at), near(at), near(at)], origin);
}
const reasons = Array.from({ length: vars + 1 }, (_, index) => `rule ${index}`);

const start = performance.now();
const choices = new Choices({ vars, clauses, origins, reasons }, inputs);
const everything = (decisions) => {
  const situation = choices.under(decisions);
  inputs.forEach((input, index) => input.cases.forEach((_, one) => situation.canChoose(index, one)));
  elements.forEach((element) => situation.truth(element));
  return situation;
};
everything(new Map());
console.log(`${inputs.length} inputs, ${clauses.length} clauses, ${elements.length} elements; opened in ${(performance.now() - start).toFixed(1)} ms`);

let decisions = new Map();
const times = [];
const whys = [];
for (const input of inputs.keys()) {
  const situation = choices.under(decisions);
  const possible = [...inputs[input].cases.keys()].filter((one) => situation.canChoose(input, one));
  decisions.set(input, possible[rng.below(possible.length)]);
  const before = performance.now();
  const after = everything(decisions);
  times.push(performance.now() - before);
  if (!after.consistent) throw new Error('a possible choice became impossible');
  const locked = inputs.flatMap((other, index) => (decisions.has(index) ? [] : other.cases.flatMap((one, at) => (after.canChoose(index, at) ? [] : [one.literal]))));
  if (locked.length > 0) {
    const asked = performance.now();
    choices.why(decisions, [locked[0]]);
    whys.push(performance.now() - asked);
  }
}
const report = (name, list) => {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]?.toFixed(1);
  console.log(`${name}: ${list.length} times, median ${at(0.5)} ms, 95 % below ${at(0.95)} ms, at most ${at(1)} ms`);
};
report('a choice', times);
report('a why', whys);
