/**
 * Decides clauses: conflict-driven learning with two watched literals, assumptions and saved phases.
 *
 * From outside a literal is as in DIMACS: a variable from 1, negative where it is negated. Inside it is twice the variable, plus one where
 * negated, so that tables are indexed by it.
 */
class Solver {
  constructor(vars) {
    this.vars = vars;
    /** Truth of each literal: 1 true, -1 false, 0 open. */
    this.values = new Int8Array(2 * vars + 2);
    this.levels = new Int32Array(vars + 1);
    /** The clause that made a variable follow; none for what was decided. */
    this.reasons = new Array(vars + 1).fill(null);
    /** The literal of each variable that is tried first. */
    this.phases = Int32Array.from({ length: vars + 1 }, (_, variable) => 2 * variable + 1);
    this.marks = new Uint8Array(vars + 1);
    /** The literals that were met in the clause that is added. */
    this.met = new Uint8Array(2 * vars + 2);
    /** The clauses that watch a literal, to be looked at when it becomes false. */
    this.watches = Array.from({ length: 2 * vars + 2 }, () => []);
    this.learnt = [];
    this.keeps = 4000;
    this.trail = [];
    this.head = 0;
    /** How long the trail was when each level began. */
    this.starts = [];
    /** The literals assumed, level by level, which the next question may share. */
    this.assumed = [];
    this.consistent = true;
    this.core = [];
    this.makeQueue();
  }

  /** Adds a clause of DIMACS literals. */
  add(clause) {
    this.backtrack(0);
    const open = this.consistent ? this.openOf(clause) : null;
    if (open === null) return;
    if (open.length > 1) this.watch(open);
    else if (open.length === 1) this.assign(open[0], null);
    this.consistent = open.length > 0 && this.propagate() === null;
  }

  /** The literals of a clause that may still make it true, each once; null where it always is. */
  openOf(clause) {
    const open = [];
    let holds = false;
    for (const literal of clause) {
      const lit = inner(literal);
      holds ||= this.values[lit] > 0 || this.met[lit ^ 1] > 0;
      if (this.values[lit] !== 0 || this.met[lit] > 0) continue;
      this.met[lit] = 1;
      open.push(lit);
    }
    for (const lit of open) this.met[lit] = 0;
    return holds ? null : open;
  }

  /** Prefers this literal when its variable is decided freely. */
  prefer(literal) {
    this.phases[Math.abs(literal)] = inner(literal);
  }

  /**
   * Whether all clauses and assumptions can hold together. If so, `value` tells the model until the next question; if not, `core` holds
   * assumptions that cannot.
   */
  solve(assumptions) {
    this.core = [];
    if (!this.consistent) return false;
    const wanted = assumptions.map(inner);
    this.keepCommon(wanted);
    return this.conclude(wanted);
  }

  /** Whether there is a model in which not all of these are as they are in the one just found without assumptions; goes on from there. */
  another(literals) {
    this.core = [];
    this.assumed = [];
    const clause = literals.map((literal) => (this.value(literal) > 0 ? -literal : literal)).map(inner);
    return this.exclude(clause.filter((lit) => this.levels[lit >> 1] > 0)) && this.conclude([]);
  }

  /** Adds a clause that is violated, and goes back to where it is not; whether there is such a place. */
  exclude(clause) {
    if (clause.length === 0) return (this.consistent = false);
    const latest = clause.reduce((best, lit, at) => (this.levels[lit >> 1] > this.levels[clause[best] >> 1] ? at : best), 0);
    [clause[0], clause[latest]] = [clause[latest], clause[0]];
    const highest = this.levels[clause[0] >> 1];
    const second = secondHighest(clause, this.levels);
    this.backtrack(Math.min(second, highest - 1));
    if (clause.length > 1) this.watch(clause);
    if (second < highest) this.assign(clause[0], clause.length > 1 ? clause : null);
    return true;
  }

  /** Searches, starting over now and then, until there is an answer. */
  conclude(wanted) {
    for (let round = 1; ; round++) {
      const answer = this.search(wanted, 64 * luby(round));
      if (answer !== null) return answer;
      this.backtrack(0);
      if (this.learnt.length > this.keeps) this.forget();
    }
  }

  /** Truth of every variable as far as assumptions settle it without search; null where they contradict each other. */
  consequences(assumptions) {
    if (!this.consistent) return null;
    const wanted = assumptions.map(inner);
    this.keepCommon(wanted);
    for (let level = this.starts.length; level < wanted.length; level++) {
      if (this.values[wanted[level]] < 0) return null;
      this.open(wanted[level]);
      if (this.propagate()) {
        // What clashed must not be taken for settled by the next question.
        this.backtrack(level);
        return null;
      }
    }
    return Int8Array.from({ length: this.vars + 1 }, (_, variable) => this.values[2 * variable]);
  }

  /** Truth of a literal in the model: 1 or -1. */
  value(literal) {
    return this.values[inner(literal)];
  }

  /** Goes back to where these assumptions part from the ones before; what stands there need not be propagated again. */
  keepCommon(wanted) {
    let common = 0;
    while (common < this.starts.length && common < wanted.length && this.assumed[common] === wanted[common]) common++;
    this.backtrack(common);
    this.assumed = wanted;
  }

  /** Searches until there is an answer, or null after so many conflicts. */
  search(assumptions, conflicts) {
    for (;;) {
      const conflict = this.propagate();
      if (conflict) {
        if (this.starts.length === 0) return (this.consistent = false);
        this.learn(conflict);
        conflicts--;
      } else if (conflicts <= 0) {
        return null;
      } else if (this.starts.length < assumptions.length) {
        const lit = assumptions[this.starts.length];
        if (this.values[lit] < 0) {
          this.core = this.finalCore(lit);
          return false;
        }
        this.open(lit);
      } else {
        const variable = this.nextOpen();
        if (variable === 0) return true;
        this.open(this.phases[variable]);
      }
    }
  }

  /** Begins a level with this literal, which may already be true. */
  open(lit) {
    this.starts.push(this.trail.length);
    if (this.values[lit] === 0) this.assign(lit, null);
  }

  assign(lit, reason) {
    this.values[lit] = 1;
    this.values[lit ^ 1] = -1;
    this.levels[lit >> 1] = this.starts.length;
    this.reasons[lit >> 1] = reason;
    this.trail.push(lit);
  }

  watch(clause) {
    this.watches[clause[0]].push(clause);
    this.watches[clause[1]].push(clause);
  }

  /** Follows units; gives the clause that became false, or null. */
  propagate() {
    const { values, watches, trail } = this;
    while (this.head < trail.length) {
      const gone = trail[this.head++] ^ 1;
      const watching = watches[gone];
      let kept = 0;
      for (let at = 0; at < watching.length; at++) {
        const clause = watching[at];
        if (clause[0] === gone) {
          clause[0] = clause[1];
          clause[1] = gone;
        }
        const first = clause[0];
        if (values[first] <= 0 && moveWatch(clause, values)) {
          watches[clause[1]].push(clause);
          continue;
        }
        watching[kept++] = clause;
        if (values[first] > 0) continue;
        if (values[first] < 0) {
          while (++at < watching.length) watching[kept++] = watching[at];
          watching.length = kept;
          return clause;
        }
        this.assign(first, clause);
      }
      watching.length = kept;
    }
    return null;
  }

  /** Learns from a conflict what follows at the first point that all its paths pass, and goes back to where that matters. */
  learn(conflict) {
    const { marks, levels, trail } = this;
    const level = this.starts.length;
    const learnt = [0];
    const touched = [];
    let clause = conflict;
    let paths = 0;
    let at = trail.length;
    let lit = -1;
    do {
      for (const other of clause) {
        const variable = other >> 1;
        if (other === lit || marks[variable] || levels[variable] === 0) continue;
        marks[variable] = 1;
        touched.push(variable);
        if (levels[variable] === level) paths++;
        else learnt.push(other);
      }
      do lit = trail[--at];
      while (!marks[lit >> 1]);
      clause = this.reasons[lit >> 1];
    } while (--paths > 0);
    learnt[0] = lit ^ 1;
    const short = learnt.filter((other, index) => index === 0 || !this.isRedundant(other));
    touched.forEach((variable) => (marks[variable] = 0));
    this.bump(touched);
    this.backtrack(secondHighest(short, levels));
    if (short.length > 1) {
      this.watch(short);
      this.learnt.push(short);
    }
    this.assign(short[0], short.length > 1 ? short : null);
  }

  /** Whether a literal of a learnt clause follows from the others. */
  isRedundant(lit) {
    const reason = this.reasons[lit >> 1];
    return reason !== null && reason.every((other) => this.marks[other >> 1] || this.levels[other >> 1] === 0);
  }

  /** The assumptions that together make this one false, and itself. */
  finalCore(lit) {
    const core = [outer(lit)];
    const marked = new Set([lit >> 1]);
    for (let at = this.trail.length - 1; at >= 0; at--) {
      const held = this.trail[at];
      const variable = held >> 1;
      if (!marked.has(variable) || this.levels[variable] === 0) continue;
      const reason = this.reasons[variable];
      if (reason) reason.forEach((other) => marked.add(other >> 1));
      else core.push(outer(held));
    }
    return core;
  }

  backtrack(level) {
    if (this.starts.length <= level) return;
    const start = this.starts[level];
    for (let at = this.trail.length - 1; at >= start; at--) {
      const lit = this.trail[at];
      this.values[lit] = this.values[lit ^ 1] = 0;
      this.phases[lit >> 1] = lit;
      if (this.stamps[lit >> 1] > this.stamps[this.cursor]) this.cursor = lit >> 1;
    }
    this.trail.length = this.head = start;
    this.starts.length = level;
  }

  /** Drops the longer half of what was learnt; at level 0 no reason is asked for any more. */
  forget() {
    this.learnt.sort((a, b) => a.length - b.length);
    const dropped = new Set(this.learnt.splice(this.learnt.length >> 1));
    this.watches = this.watches.map((clauses) => clauses.filter((clause) => !dropped.has(clause)));
    this.keeps += 500;
  }

  /** Variables in the order in which they were last part of a conflict, as a linked list; what lies behind the cursor is assigned. */
  makeQueue() {
    this.before = Int32Array.from({ length: this.vars + 1 }, (_, variable) => variable - 1);
    this.after = Int32Array.from({ length: this.vars + 1 }, (_, variable) => (variable < this.vars ? variable + 1 : 0));
    this.stamps = Float64Array.from({ length: this.vars + 1 }, (_, variable) => variable);
    this.last = this.cursor = this.vars;
    this.clock = this.vars;
  }

  /** Moves variables to the end of the queue, from where the next decision is taken. */
  bump(variables) {
    variables.sort((a, b) => this.stamps[a] - this.stamps[b]);
    for (const variable of variables) {
      this.stamps[variable] = ++this.clock;
      if (variable === this.last) continue;
      const before = this.before[variable];
      const after = this.after[variable];
      this.after[before] = after;
      this.before[after] = before;
      this.before[variable] = this.last;
      this.after[this.last] = variable;
      this.after[variable] = 0;
      this.last = variable;
    }
    // All that is assigned is passed over again; that is cheap beside the conflict.
    this.cursor = this.last;
  }

  nextOpen() {
    while (this.cursor > 0 && this.values[2 * this.cursor] !== 0) this.cursor = this.before[this.cursor];
    return this.cursor;
  }
}

function inner(literal) {
  return literal > 0 ? 2 * literal : 1 - 2 * literal;
}

function outer(lit) {
  return lit & 1 ? -(lit >> 1) : lit >> 1;
}

/** Puts a literal that is not false in the second place, if there is one beside the first. */
function moveWatch(clause, values) {
  for (let at = 2; at < clause.length; at++) {
    const lit = clause[at];
    if (values[lit] < 0) continue;
    clause[at] = clause[1];
    clause[1] = lit;
    return true;
  }
  return false;
}

/** The level to go back to: that of the latest literal behind the first, which is put in the second place. */
function secondHighest(clause, levels) {
  if (clause.length === 1) return 0;
  let best = 1;
  for (let at = 2; at < clause.length; at++) if (levels[clause[at] >> 1] > levels[clause[best] >> 1]) best = at;
  [clause[1], clause[best]] = [clause[best], clause[1]];
  return levels[clause[1] >> 1];
}

/** 1 1 2 1 1 2 4 …: how long to search before starting over. */
function luby(round) {
  let size = 1;
  while (size < round + 1) size *= 2;
  return size === round + 1 ? size / 2 : luby(round - size / 2 + 1);
}
