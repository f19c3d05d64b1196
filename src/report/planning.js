/* The plan of what is present, put together of what all plans consist of. What each node does, in which order, and what lets one come before
   another is in the data; here the parts that are present are put in order. */

/** Whose host a call runs on, where that is none of a node of the template. */
const [ON_ORCHESTRATOR, ON_OWN_HOST] = [-1, -2];

/** What a plan says where a step runs nothing of its own. */
const [ORCHESTRATED, IDLE] = ['by the orchestrator', 'nothing to run'];

/** Why the page does not know whether there is a plan. */
const UNTYPED = 'it has nodes whose types are not imported';

/** For each condition whether it holds, where these elements are present and inputs have these values, both by position. */
function conditions({ values, ands }, elements, isPresent, value) {
  const truth = [true];
  for (let element = 0; element < elements; element++) truth.push(isPresent(element));
  for (const [input, text] of values) truth.push(value(input) === text);
  const holds = (number) => truth[Math.abs(number)] === number > 0;
  for (const all of ands) truth.push(all.every(holds));
  return holds;
}

/**
 * The first value that is there and computed only when it is resolved, which may fail: its element, and why it is not known. Where one is, it is
 * not known whether there is a plan.
 */
function uncomputed({ pieces, later, whys }, holds) {
  if (later.every(([input]) => input != null)) return null;
  const find = (piece) => {
    if (typeof piece === 'string') return null;
    const inner = Array.isArray(piece) ? (holds(piece[0]) ? piece.slice(1) : []) : (piece.collection ?? piece.behind);
    if (inner) return findAmong(inner);
    const [input, element, why] = later[piece.later];
    return input == null ? { element, why: whys[why] } : null;
  };
  const findAmong = (all) => {
    for (const piece of all) {
      const found = find(piece);
      if (found) return found;
    }
    return null;
  };
  return findAmong(pieces);
}

/** A topology as far as plans ask: of each node what it is, and by which relations it leads to others. */
class PresentParts {
  constructor({ nodes, relations }, holds) {
    this.ways = nodes.map(({ when, ways }) => (holds(when) ? ways.find((way) => holds(way.when)) : undefined));
    this.isLost = nodes.some(({ when }, node) => holds(when) && !this.ways[node]) || this.ways.some((way) => way?.needs && !way.needs.every(holds));
    /** The positions of relations that are present. */
    this.relations = new Set();
    this.targets = this.ways.map(() => []);
    /** By which relation each node waits for each of its targets. */
    this.waits = this.ways.map(() => []);
    this.hosted = this.ways.map(() => undefined);
    this.ways.forEach((way, node) => {
      for (const at of way?.relations ?? []) {
        const { when, needs, target, orders, hosts } = relations[at];
        if (!holds(when)) continue;
        this.relations.add(at);
        this.isLost ||= needs !== undefined && !needs.every(holds);
        if (!this.ways[target]) continue;
        if (orders !== null && this.comes(node) && this.comes(target)) {
          this.targets[node].push(target);
          this.waits[node].push(at);
        }
        if (hosts) this.hosted[node] ??= target;
      }
    });
  }

  /** Whether something has to be done so that a node is there. */
  comes(node) {
    return this.ways[node] !== undefined && this.ways[node].does !== null;
  }

  /** The end of the chain of hosts of a node; nothing where nothing hosts it, or the chain has no end. */
  host(node) {
    const met = new Set();
    let end = node;
    for (; this.hosted[end] !== undefined; end = this.hosted[end]) {
      if (met.has(end)) return undefined;
      met.add(end);
    }
    return end === node ? undefined : end;
  }

  /** Where a call of a node runs: on a node, or nothing where that is the orchestrator. */
  place(node, [of, unhosted]) {
    if (of === ON_ORCHESTRATOR) return undefined;
    const end = of === ON_OWN_HOST ? node : of;
    if (!this.ways[end]) return undefined;
    const isItself = unhosted === 2 || (unhosted === 1 && this.ways[end].machine);
    return this.host(end) ?? (isItself ? end : undefined);
  }

  /** The nodes that come, each behind its targets, otherwise in the order of the template; without those that wait for each other. */
  order() {
    const coming = [...this.ways.keys()].filter((node) => this.comes(node));
    const open = this.targets.map((targets) => targets.length);
    const behind = this.ways.map(() => []);
    for (const node of coming) for (const target of this.targets[node]) behind[target].push(node);
    // A heap would be faster only where thousands can come at once.
    const ready = coming.filter((node) => open[node] === 0).reverse();
    const insert = (node) => {
      let [low, high] = [0, ready.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ready[middle] > node) low = middle + 1;
        else high = middle;
      }
      ready.splice(low, 0, node);
    };
    const order = [];
    while (ready.length > 0) {
      const node = ready.pop();
      order.push(node);
      for (const next of behind[node]) if (--open[next] === 0) insert(next);
    }
    return { order, isWhole: order.length === coming.length };
  }

  /** The nodes that wait for themselves, directly or through others: those that wait for each other together. */
  knots() {
    const left = new Set(this.ways.keys());
    const sources = this.ways.map(() => []);
    this.targets.forEach((targets, node) => targets.forEach((target) => sources[target].push(node)));
    const reached = (start, next) => {
      const found = new Set();
      const open = [start];
      while (open.length > 0) {
        for (const other of next[open.pop()]) {
          if (!left.has(other) || found.has(other)) continue;
          found.add(other);
          open.push(other);
        }
      }
      return found;
    };
    const knots = [];
    for (const node of left) {
      const [ahead, behind] = [reached(node, this.targets), reached(node, sources)];
      const knot = [...ahead].filter((other) => behind.has(other)).sort((a, b) => a - b);
      if (knot.length > 0) knots.push(knot);
      [node, ...knot].forEach((other) => left.delete(other));
    }
    return knots;
  }

  /** A shortest circle in a knot: its nodes from the first on, each with the relation by which it waits for the next. */
  circle(knot) {
    const inside = new Set(knot);
    const edges = new Map(knot.map((node) => [node, this.targets[node].map((target, at) => [target, this.waits[node][at]]).filter(([target]) => inside.has(target))]));
    const through = (start, shorter) => {
      const came = new Map();
      const open = [[start, 1]];
      for (const [node, length] of open) {
        if (length >= shorter) return null;
        for (const [target, relation] of edges.get(node)) {
          if (target === start) {
            const circle = [];
            for (let step = [node, relation]; step; step = came.get(step[0])) circle.push(step);
            return circle.reverse();
          }
          if (came.has(target)) continue;
          came.set(target, [node, relation]);
          open.push([target, length + 1]);
        }
      }
      return null;
    };
    // Unless the knot is one circle, every circle goes through a node with several ways.
    const branching = knot.filter((node) => edges.get(node).length > 1);
    let circle = null;
    for (const start of branching.length > 0 ? branching : knot.slice(0, 1)) {
      circle = through(start, circle?.length ?? Infinity) ?? circle;
      edges.set(start, []);
    }
    const first = circle.reduce((least, [node], at) => (node < circle[least][0] ? at : least), 0);
    return [...circle.slice(first), ...circle.slice(0, first)];
  }
}

/** So many nodes of a circle have their names in the message. */
const NAMED = 8;

/** What the command says of nodes that wait for each other in a circle. */
function cyclicDeployment(circle, { nodes, relations }, words) {
  const names = circle.map(([node]) => `\`${words[nodes[node].name]}\``);
  const [, last] = circle.at(-1);
  const shown = names.length > NAMED ? `${names.slice(0, NAMED - 1).join(', ')} and ${names.length - NAMED + 1} others` : names.join(', ');
  const message = names.length === 1 ? `${names[0]} waits for itself` : names.length === 2 ? `${names.sort().join(' and ')} wait for each other` : `${shown} wait for each other in a circle`;
  return { message, help: `leave one out of the order: \`--ignore ${words[relations[last].orders]}\`` };
}

/** What the command says of an operation that would have to run while the orchestrator brings a node. */
function delegatedLifecycle(name, operation) {
  return {
    message: `\`${operation}\` has to run while \`${name}\` is configured, but the orchestrator provides \`${name}\` as a whole`,
    help: `use \`add_target\` or \`add_source\`, or take it from the orchestrator: \`--managed node.${name}\``,
  };
}

/** Why there is no plan of nodes in this order, as the command says it. */
function impossible(present, { order, isWhole }, parts, words) {
  if (!isWhole) return present.knots().map((knot) => cyclicDeployment(present.circle(knot), parts, words));
  const between = (node) => (present.ways[node].impossible ?? []).filter(([relation]) => present.relations.has(relation));
  return order.flatMap((node) => between(node).map(([, operation]) => delegatedLifecycle(words[parts.nodes[node].name], words[operation])));
}

/**
 * What deploys what is present, as it is told: the round, the element, the operation, what it runs, where, and the state afterwards; or the
 * errors because of which there is none, or why that is not known.
 */
function deployment(parts, words, holds) {
  const present = new PresentParts(parts, holds);
  if (present.isLost) return { why: UNTYPED };
  const { order, isWhole } = present.order();
  const errors = impossible(present, { order, isWhole }, parts, words);
  if (errors.length > 0) return { errors };
  const steps = [];
  const started = [];
  const lastCalls = new Map();
  const name = (node) => words[parts.nodes[node].name];
  for (const node of order) {
    const element = words[parts.nodes[node].element];
    const stages = parts.works[present.ways[node].does];
    const end = stages.findLastIndex((stage) => !Array.isArray(stage));
    const first = steps.length;
    let round = Math.max(0, ...present.targets[node].map((target) => started[target]));
    let last = [];
    // Of a relation without a target only its source is told.
    const nameOfRelation = ({ target, name: both }) => (present.ways[target] ? words[both] : `${name(node)} -> ?`);
    stages.forEach((stage, at) => {
      if (!Array.isArray(stage)) {
        if (last.length === 1 && last[0].isOwn) last[0].step[5] = words[stage];
        last = [];
        if (at === end) started[node] = round;
        return;
      }
      const calls = stage.filter(([relation]) => relation === null || present.relations.has(relation));
      if (calls.length === 0) return;
      last = calls.map(([relation, operation, implementation, place]) => {
        const host = place === null ? undefined : present.place(node, place);
        const where = place === null ? '' : host === undefined ? 'the orchestrator' : name(host);
        // On one host one call comes after the other.
        const wave = Math.max(round, lastCalls.get(host) ?? 0) + 1;
        if (host !== undefined) lastCalls.set(host, wave);
        const step = [wave, relation === null ? element : nameOfRelation(parts.relations[relation]), words[operation], words[implementation], where, ''];
        steps.push(step);
        return { step, isOwn: relation === null };
      });
      round = Math.max(...last.map(({ step }) => step[0]));
    });
    if (steps.length === first) {
      // What has nothing to run takes no round.
      steps.push([Math.max(started[node], 1), element, '', IDLE, '', words[stages[end]]]);
    }
  }
  return { plan: { head: headOf(steps, order.length), changes: [], steps: steps.sort(([one], [other]) => one - other) } };
}

/** What a plan comes to. */
function headOf(steps, nodes) {
  if (nodes === 0) return 'deploy: nothing to do';
  const counted = (number, one) => `${number} ${one}${number === 1 ? '' : 's'}`;
  const delegations = steps.filter(([, , , runs]) => runs === ORCHESTRATED).length;
  const operations = steps.filter(([, , does, runs]) => does !== '' && runs !== ORCHESTRATED).length;
  const done = [(operations > 0 || delegations === 0) && counted(operations, 'operation'), delegations > 0 && counted(delegations, 'delegation')].filter(Boolean);
  const waves = Math.max(0, ...steps.filter(([, , , runs]) => runs !== IDLE).map(([wave]) => wave));
  return `deploy: ${done.join(' and ')}${waves > 0 ? ` in ${counted(waves, 'wave')}` : ''}`;
}
