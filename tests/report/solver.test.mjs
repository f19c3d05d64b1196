// The solver and the configurator against brute force over random formulas.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Choices, Solver, random } from './load.mjs';

const literal = (rng, vars) => (1 + rng.below(vars)) * (rng.chance(0.5) ? 1 : -1);

function randomClauses(rng, vars, count) {
  return Array.from({ length: count }, () => Array.from({ length: 1 + rng.below(3) + (rng.chance(0.8) ? 1 : 0) }, () => literal(rng, vars)));
}

const satisfies = (model, clause) => clause.some((lit) => ((model >> (Math.abs(lit) - 1)) & 1) === (lit > 0 ? 1 : 0));

function allModels(vars, clauses) {
  const models = [];
  for (let model = 0; model < 1 << vars; model++) if (clauses.every((clause) => satisfies(model, clause))) models.push(model);
  return models;
}

test('the solver agrees with brute force, question after question', () => {
  for (let seed = 0; seed < 600; seed++) {
    const rng = random(seed);
    const vars = 1 + rng.below(9);
    const clauses = randomClauses(rng, vars, rng.below(5 * vars));
    const models = allModels(vars, clauses);
    const solver = new Solver(vars);
    clauses.forEach((clause) => solver.add(clause));
    for (let question = 0; question < 12; question++) {
      const assumptions = Array.from({ length: rng.below(vars + 2) }, () => literal(rng, vars));
      if (rng.chance(0.3)) solver.prefer(literal(rng, vars));
      const matching = models.filter((model) => assumptions.every((lit) => satisfies(model, [lit])));
      const settled = rng.chance(0.5) ? solver.consequences(assumptions) : undefined;
      assert.equal(solver.solve(assumptions), matching.length > 0, `seed ${seed}`);
      if (matching.length > 0) {
        const model = Array.from({ length: vars }, (_, index) => (solver.value(index + 1) > 0 ? 1 << index : 0)).reduce((a, b) => a | b, 0);
        assert.ok(matching.includes(model), `seed ${seed}`);
      } else {
        assert.ok(solver.core.every((lit) => assumptions.includes(lit)), `seed ${seed}`);
        assert.ok(!models.some((model) => solver.core.every((lit) => satisfies(model, [lit]))), `seed ${seed}`);
      }
      if (settled === null) assert.equal(matching.length, 0, `seed ${seed}`);
      settled?.forEach((value, variable) => {
        if (value) assert.ok(matching.every((model) => satisfies(model, [variable * value])), `seed ${seed}`);
      });
    }
  }
});

test('models that differ in some literals are found one after the other, each once', () => {
  for (let seed = 0; seed < 600; seed++) {
    const rng = random(seed);
    const vars = 1 + rng.below(8);
    const clauses = randomClauses(rng, vars, rng.below(4 * vars));
    const over = Array.from({ length: rng.below(vars + 1) }, () => literal(rng, vars));
    const seen = (truth) => over.map((lit) => (truth(lit) ? '1' : '0')).join('');
    const expected = new Set(allModels(vars, clauses).map((model) => seen((lit) => satisfies(model, [lit]))));
    const solver = new Solver(vars);
    clauses.forEach((clause) => solver.add(clause));
    const found = [];
    for (let is = solver.solve([]); is; is = solver.another(over)) found.push(seen((lit) => solver.value(lit) > 0));
    assert.equal(new Set(found).size, found.length, `seed ${seed}`);
    assert.deepEqual(new Set(found), expected, `seed ${seed}`);
  }
});

test('a hard formula is decided, with restarts and forgetting', () => {
  // Eight pigeons, seven holes.
  const [pigeons, holes] = [8, 7];
  const at = (pigeon, hole) => pigeon * holes + hole + 1;
  const solver = new Solver(pigeons * holes + 1);
  const free = pigeons * holes + 1;
  solver.keeps = 100;
  for (let pigeon = 0; pigeon < pigeons; pigeon++) {
    solver.add([...Array.from({ length: holes }, (_, hole) => at(pigeon, hole)), ...(pigeon === 0 ? [free] : [])]);
    for (let other = 0; other < pigeon; other++) for (let hole = 0; hole < holes; hole++) solver.add([-at(pigeon, hole), -at(other, hole)]);
  }
  assert.equal(solver.solve([-free]), false);
  assert.deepEqual(solver.core, [-free]);
  assert.equal(solver.solve([]), true);
  assert.equal(solver.value(free), 1);
});

test('a formula larger than a recursion could take is decided', () => {
  const vars = 20000;
  const solver = new Solver(vars);
  for (let variable = 1; variable < vars; variable++) solver.add([-variable, variable + 1]);
  assert.equal(solver.solve([1, -vars]), false);
  assert.deepEqual([...solver.core].sort((a, b) => a - b), [-vars, 1]);
  assert.equal(solver.solve([1]), true);
});

/** Inputs with two to four cases, and clauses over them and a few more variables; the origins are reasons, but for some clauses. */
function randomChoices(rng) {
  const inputs = [];
  const structure = [];
  let vars = 0;
  for (let input = 0; input < 2 + rng.below(3); input++) {
    if (rng.chance(0.5)) {
      vars++;
      inputs.push({ cases: [{ literal: vars }, { literal: -vars }], default: rng.chance(0.7) ? rng.below(2) : null });
    } else {
      const cases = Array.from({ length: 2 + rng.below(3) }, () => ({ literal: ++vars }));
      structure.push(cases.map(({ literal }) => literal));
      cases.forEach((a, at) => cases.slice(0, at).forEach((b) => structure.push([-a.literal, -b.literal])));
      inputs.push({ cases, default: null });
    }
  }
  const inputVars = vars;
  vars += rng.below(3);
  const rules = randomClauses(rng, vars, rng.below(8)).filter((clause) => clause.length > 1);
  const clauses = [...structure, ...rules];
  const origins = clauses.map((_, index) => (index < structure.length ? null : Math.floor((index - structure.length) / 2)));
  const reasons = Array.from({ length: Math.ceil(rules.length / 2) }, (_, index) => `rule ${index}`);
  return { inputs, inputVars, cnf: { vars, clauses, origins, reasons } };
}

function randomDecisions(rng, inputs) {
  const decisions = new Map();
  inputs.forEach((input, index) => rng.chance(0.5) && decisions.set(index, rng.below(input.cases.length)));
  return decisions;
}

test('the configurator agrees with brute force', () => {
  for (let seed = 0; seed < 500; seed++) {
    const rng = random(seed + 10_000);
    const { inputs, cnf } = randomChoices(rng);
    const models = allModels(cnf.vars, cnf.clauses);
    const choices = new Choices(cnf, inputs);
    const possible = (literals) => models.some((model) => literals.every((lit) => satisfies(model, [lit])));
    for (let round = 0; round < 6; round++) {
      const decisions = randomDecisions(rng, inputs);
      const situation = choices.under(decisions);
      const base = choices.literals(decisions);
      assert.equal(situation.consistent, possible(base), `seed ${seed}`);
      if (!situation.consistent) {
        checkWhy(choices, models, decisions, [], `seed ${seed}`);
        continue;
      }
      inputs.forEach((input, index) => {
        const others = new Map(decisions);
        others.delete(index);
        const cases = input.cases.map(({ literal }) => possible([...choices.literals(others), literal]));
        assert.deepEqual([...input.cases.keys()].map((one) => situation.canChoose(index, one)), cases, `seed ${seed}`);
        const only = !decisions.has(index) && cases.filter(Boolean).length === 1;
        assert.equal(situation.implied(index), only ? cases.indexOf(true) : null, `seed ${seed}`);
        cases.forEach((can, one) => {
          if (!can) checkWhy(choices, models, others, [input.cases[one].literal], `seed ${seed}`);
          checkEnforce(choices, possible, decisions, index, one, `seed ${seed}`);
        });
      });
      for (let variable = 1; variable <= cnf.vars; variable++) {
        const truth = [possible([...base, -variable]), possible([...base, variable])];
        assert.equal(situation.truth(variable), truth[0] && truth[1] ? 0 : truth[1] ? 1 : -1, `seed ${seed}`);
        assert.equal(situation.truth(-variable), -situation.truth(variable) + 0, `seed ${seed}`);
      }
      checkComplete(choices, possible, decisions, `seed ${seed}`);
    }
  }
});

test('explanations of conflicts with many causes are minimal', () => {
  let explained = 0;
  for (let seed = 0; seed < 300; seed++) {
    const rng = random(seed + 20_000);
    const vars = 7;
    // As many clauses as are just too many, each for a reason of its own: a solver's first conflict names more of them than it needs.
    const clauses = Array.from({ length: 34 }, () => [0, 1, 2].map(() => literal(rng, vars)));
    const inputs = Array.from({ length: 5 }, (_, index) => ({ cases: [{ literal: index + 1 }, { literal: -index - 1 }], default: 0 }));
    const choices = new Choices({ vars, clauses, origins: [...clauses.keys()], reasons: clauses.map((_, index) => `rule ${index}`) }, inputs);
    const models = allModels(vars, clauses);
    const decisions = new Map(inputs.map((_, index) => [index, rng.below(2)]));
    if (models.some((model) => choices.literals(decisions).every((lit) => satisfies(model, [lit])))) continue;
    checkWhy(choices, models, decisions, [], `seed ${seed}`);
    explained++;
  }
  assert.ok(explained > 100, `only ${explained}`);
});

/** The decisions and the reasons suffice, and none of them can be left out. */
function checkWhy(choices, models, decisions, literals, label) {
  const { cnf, inputs } = choices;
  const why = choices.why(decisions, literals);
  assert.notEqual(why, null, label);
  const literalOf = (input) => inputs[input].cases[decisions.get(input)].literal;
  const possible = (needed) => models.some((model) => [...literals, ...needed.map(literalOf)].every((lit) => satisfies(model, [lit])));
  assert.equal(possible(why.inputs), false, label);
  why.inputs.forEach((dropped) => assert.equal(possible(why.inputs.filter((input) => input !== dropped)), true, label));

  const facts = [...literals, ...why.inputs.map(literalOf)].map((lit) => [lit]);
  const holding = (reasons) => [...facts, ...cnf.clauses.filter((_, index) => cnf.origins[index] === null || reasons.includes(cnf.origins[index]))];
  assert.equal(allModels(cnf.vars, holding(why.reasons)).length, 0, label);
  why.reasons.forEach((dropped) => {
    const rest = why.reasons.filter((reason) => reason !== dropped);
    assert.notEqual(allModels(cnf.vars, holding(rest)).length, 0, label);
  });
}

/** The decision is taken, the rest was decided before, and none of what was dropped could have stayed. */
function checkEnforce(choices, possible, decisions, input, one, label) {
  const after = choices.enforce(decisions, input, one);
  if (after === null) {
    assert.equal(possible([choices.inputs[input].cases[one].literal]), false, label);
    return;
  }
  assert.equal(after.get(input), one, label);
  assert.ok(possible(choices.literals(after)), label);
  for (const [other, choice] of decisions) {
    if (other === input) continue;
    if (after.has(other)) assert.equal(after.get(other), choice, label);
    else assert.equal(possible([...choices.literals(after), choices.inputs[other].cases[choice].literal]), false, label);
  }
}

function checkComplete(choices, possible, decisions, label) {
  const complete = choices.complete(decisions, null);
  assert.equal(complete.size, choices.inputs.length, label);
  assert.ok(possible(choices.literals(complete)), label);
  decisions.forEach((one, input) => assert.equal(complete.get(input), one, label));
  const defaults = choices.inputs.map((input) => input.default);
  const all = new Map(defaults.map((one, input) => [input, decisions.get(input) ?? one]));
  if (defaults.every((one, input) => one !== null || decisions.has(input)) && possible(choices.literals(all))) {
    assert.deepEqual([...complete].sort(), [...all].sort(), label);
  }
}
