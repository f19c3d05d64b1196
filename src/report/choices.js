/**
 * What is left to choose, exactly: which cases of the inputs are possible beside what is decided, what is present then, and why.
 *
 * Decisions are a map from the position of an input to the position of its case.
 */
class Choices {
  /** `cnf` and `inputs` as in the data of the report. */
  constructor(cnf, inputs) {
    this.cnf = cnf;
    this.inputs = inputs;
    /** For each input whose default is computed the literal that it has its default. */
    this.usual = new Map();
    inputs.forEach(({ coming }, input) => coming?.length && this.usual.set(input, cnf.vars + this.usual.size + 1));
    this.vars = cnf.vars + this.usual.size;
    this.solver = new Solver(this.vars);
    for (const clause of cnf.clauses) this.solver.add(clause);
    for (const [input, usual] of this.usual) inputs[input].cases.forEach(({ literal }, one) => this.solver.add([-usual, -literal, inputs[input].coming[one]]));
    this.questions = inputs.flatMap((input) => input.cases.map((one) => one.literal));
    // Decided first, so that one model answers as many questions as it can.
    this.solver.bump([...new Set(this.questions.map(Math.abs))]);
    /** The latest models, which answer most questions without a search. */
    this.models = [];
    this.explainer = null;
  }

  /** The literals of decisions. */
  literals(decisions) {
    return [...decisions].map(([input, one]) => this.inputs[input].cases[one].literal);
  }

  /** What holds and what can be chosen under these decisions. */
  under(decisions) {
    return new Situation(this, decisions);
  }

  /** Whether these literals can hold together. */
  satisfiable(literals) {
    if (this.models.some((model) => literals.every((literal) => holds(model, literal)))) return true;
    return this.search(literals) !== null;
  }

  /** A model of these literals, or null. */
  search(literals) {
    if (!this.solver.solve(literals)) return null;
    const model = Int8Array.from({ length: this.vars + 1 }, (_, variable) => (variable ? this.solver.value(variable) : 0));
    this.models.unshift(model);
    this.models.length = Math.min(this.models.length, 256);
    return model;
  }

  /**
   * Why these literals cannot hold beside the decisions: the inputs of decisions of which none can be left out, and the reasons of the
   * formula. Null where they can.
   */
  why(decisions, literals) {
    const needed = this.conflicting(decisions, literals);
    if (needed === null) return null;
    const facts = [...this.literals(new Map(needed.map((input) => [input, decisions.get(input)]))), ...literals];
    return { inputs: needed, reasons: this.reasonsAgainst(facts) };
  }

  conflicting(decisions, literals) {
    if (this.satisfiable([...literals, ...this.literals(decisions)])) return null;
    const core = new Set(this.solver.core);
    const input = ([input, one]) => core.has(this.inputs[input].cases[one].literal);
    let needed = [...decisions].filter(input);
    for (const one of [...needed]) {
      const without = needed.filter((other) => other !== one);
      if (!this.satisfiable([...literals, ...this.literals(new Map(without))])) needed = without;
    }
    return needed.map(([input]) => input);
  }

  /** The reasons behind the clauses that forbid these literals together; minimal unless there are very many. */
  reasonsAgainst(literals) {
    const { solver, selectors } = (this.explainer ??= this.makeExplainer());
    const all = new Map(selectors.map((selector, reason) => [selector, reason]));
    const fails = (wanted) => !solver.solve([...literals, ...wanted]);
    if (!fails(selectors)) return [];
    let needed = solver.core.filter((literal) => all.has(literal));
    for (let before = Infinity; needed.length < before && fails(needed); ) {
      before = needed.length;
      needed = solver.core.filter((literal) => all.has(literal));
    }
    if (needed.length <= 200) {
      // The most telling come first, so that the others are left out rather than they.
      for (const one of [...needed].sort((a, b) => b - a)) {
        const without = needed.filter((other) => other !== one);
        if (fails(without)) needed = without;
      }
    }
    return needed.map((selector) => all.get(selector)).sort((a, b) => a - b);
  }

  /** A solver in which the clauses of each reason hold only where its selector does; those without one always hold. */
  makeExplainer() {
    const { vars, clauses, origins, reasons } = this.cnf;
    const solver = new Solver(vars + reasons.length);
    clauses.forEach((clause, index) => {
      const origin = origins[index];
      solver.add(origin == null ? clause : [...clause, -(vars + 1 + origin)]);
    });
    return { solver, selectors: reasons.map((_, reason) => vars + 1 + reason) };
  }

  /**
   * The decisions with this one among them, and without as few others as it needs to be possible; the latest are kept first. Null where
   * it is impossible whatever else is decided.
   */
  enforce(decisions, input, one) {
    const kept = new Map([[input, one]]);
    if (!this.satisfiable(this.literals(kept))) return null;
    for (const [other, choice] of [...decisions].reverse()) {
      if (other === input) continue;
      kept.set(other, choice);
      if (!this.satisfiable(this.literals(kept))) kept.delete(other);
    }
    const order = [...decisions.keys()].filter((other) => kept.has(other) && other !== input);
    return new Map([...order.map((other) => [other, kept.get(other)]), [input, one]]);
  }

  /** One after the other, all variants under these decisions: what they make of the literals is different in each. */
  *variants(decisions, literals) {
    const solver = new Solver(this.cnf.vars);
    for (const clause of this.cnf.clauses) solver.add(clause);
    for (const literal of this.literals(decisions)) solver.add([literal]);
    for (let is = solver.solve([]); is; is = solver.another(literals)) {
      yield literals.map((literal) => (solver.value(literal) > 0 ? literal : -literal));
    }
  }

  /**
   * Decides every open input: its default, be it computed or not, where that is possible, else the case it has in the variant of the
   * defaults, else any.
   */
  complete(decisions, usual) {
    const complete = new Map(decisions);
    const literals = this.literals(decisions);
    const open = this.inputs.map((_, input) => input).filter((input) => !decisions.has(input));
    const own = (input) => this.inputs[input].cases[this.inputs[input].default]?.literal;
    const wishes = [...open.map(own), ...open.map((input) => this.usual.get(input))].filter((literal) => literal !== undefined);
    for (const wish of wishes) if (this.satisfiable([...literals, wish])) literals.push(wish);
    for (const input of open) {
      const { cases } = this.inputs[input];
      const order = [usual?.[input], ...cases.keys()].filter((one) => one != null);
      const found = order.find((one) => this.satisfiable([...literals, cases[one].literal]));
      if (found === undefined) return null;
      literals.push(cases[found].literal);
      complete.set(input, found);
    }
    return complete;
  }

  /** Whether an input has its case also where nothing but the other decisions is said. */
  isDefault(decisions, input) {
    const usual = this.usual.get(input);
    return usual === undefined ? this.inputs[input].default === decisions.get(input) : this.satisfiable([...this.literals(decisions), usual]);
  }
}

/** What holds under some decisions; questions are answered when they are asked. */
class Situation {
  constructor(choices, decisions) {
    this.choices = choices;
    this.decisions = decisions;
    this.base = choices.literals(decisions);
    this.settled = choices.solver.consequences(this.base);
    /** Which literals hold in some model of the decisions, from the lowest to the highest. */
    this.seen = new Uint8Array(2 * choices.cnf.vars + 1);
    this.witnessed = false;
    /** Literals of cases that hold in some model of all decisions but the one of the same input. */
    this.instead = new Set();
    this.known = new Map();
    choices.models.forEach((model) => this.learn(model));
    this.consistent = this.settled !== null && (this.witnessed || this.ask([]));
  }

  /** Whether this literal can hold beside all decisions. */
  can(literal) {
    if (!this.consistent) return false;
    if (this.isSeen(literal)) return true;
    const settled = this.settled[Math.abs(literal)];
    if (settled !== 0) return settled > 0 === literal > 0;
    if (!this.known.has(literal)) this.known.set(literal, this.ask([literal]));
    return this.known.get(literal);
  }

  /** Whether an input can have this case beside the decisions about the others. */
  canChoose(input, one) {
    const { literal } = this.choices.inputs[input].cases[one];
    if (this.decisions.get(input) === one || !this.decisions.has(input)) return this.can(literal);
    if (this.instead.has(literal)) return true;
    const others = new Map(this.decisions);
    others.delete(input);
    const model = this.choices.search([...this.choices.literals(others), literal]);
    if (model) this.learn(model);
    return model !== null;
  }

  /** 1 where a literal holds whatever else is decided, -1 where it cannot, 0 where that is open. */
  truth(literal) {
    if (!this.consistent) return 0;
    const [yes, no] = [this.can(literal), this.can(-literal)];
    return yes && no ? 0 : yes ? 1 : -1;
  }

  /** The only case that an open input can have, if there is only one. */
  implied(input) {
    if (this.decisions.has(input)) return null;
    const possible = [...this.choices.inputs[input].cases.keys()].filter((one) => this.canChoose(input, one));
    return possible.length === 1 ? possible[0] : null;
  }

  isSeen(literal) {
    return this.seen[literal + this.choices.cnf.vars] === 1;
  }

  ask(literals) {
    const { questions, solver } = this.choices;
    for (const question of questions) if (!this.isSeen(question)) solver.prefer(question);
    const model = this.choices.search([...this.base, ...literals]);
    if (model) this.learn(model);
    return model !== null;
  }

  /** Notes what a model of the formula shows to be possible. */
  learn(model) {
    const { inputs } = this.choices;
    let broken = null;
    for (const [input, one] of this.decisions) {
      if (holds(model, inputs[input].cases[one].literal)) continue;
      if (broken !== null) return;
      broken = input;
    }
    if (broken === null) {
      const { vars } = this.choices.cnf;
      this.witnessed = true;
      for (let variable = 1; variable <= vars; variable++) this.seen[vars + variable * model[variable]] = 1;
    } else {
      for (const { literal } of inputs[broken].cases) if (holds(model, literal)) this.instead.add(literal);
    }
  }
}

function holds(model, literal) {
  return model[Math.abs(literal)] === (literal > 0 ? 1 : -1);
}
