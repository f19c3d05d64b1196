/* The page: everything that is shown is made here, from the data and from what has been chosen. */

const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);

/** An element of the page: properties, attributes where there is no such property, listeners as `onclick`, and what it contains. */
function make(tag, properties = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value == null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name === 'class') made.className = value;
    else made.setAttribute(name, value === true ? '' : value);
  }
  return fill(made, ...content);
}

/** Replaces what an element contains; what is nothing or false is left out. */
function fill(place, ...content) {
  place.replaceChildren(...content.flat(Infinity).filter((part) => part != null && part !== false));
  return place;
}

const code = (text) => make('code', {}, text);
/** A message, in which what stands between backquotes is code. */
const coded = (text) => text.split('`').map((part, at) => (at % 2 === 1 ? code(part) : part));
const unseen = (text) => make('span', { class: 'unseen' }, text);
const button = (text, onclick, more = {}) => make('button', { type: 'button', onclick, ...more }, text);
const count = (number, one, several = `${one}s`) => `${number.toLocaleString('en')} ${number === 1 ? one : several}`;
const listed = (texts) => (texts.length > 6 ? `${texts.slice(0, 5).join(', ')} and ${texts.length - 5} more` : texts.join(', '));

function say(text) {
  byId('live').textContent = text;
}

/* ---- What is known ---- */

const positions = new Map(data.elements.map((element, index) => [element.id, index]));
const children = data.elements.map(() => []);
data.elements.forEach((element, index) => element.container != null && children[element.container].push(index));
const presets = data.presets.map((preset) => ({ ...preset, name: preset.id ?? 'defaults', set: new Set(preset.present) }));
const choices = data.cnf && new Choices(data.cnf, data.inputs);

/** The first two presets that differ in nodes, or else in anything, or else the first two that there are. */
function differing() {
  const possible = [...presets.keys()].filter((preset) => presets[preset].error == null);
  const pairs = possible.flatMap((first, at) => possible.slice(at + 1).map((second) => [first, second]));
  const differ = (kinds) => ([first, second]) => data.elements.some(({ kind }, element) => kinds(kind) && presets[first].set.has(element) !== presets[second].set.has(element));
  return pairs.find(differ((kind) => kind === 'node')) ?? pairs.find(differ(() => true)) ?? pairs[0] ?? [possible[0] ?? 0, possible[0] ?? 0];
}

const [someFirst, someSecond] = differing();
const usualMode = data.instance ? 'instance' : choices ? 'mine' : 'preset';

const state = {
  decisions: new Map(),
  /** The preset that was loaded last, if one was: its values stand for its cases. */
  loaded: null,
  /** Of inputs whose value was typed: its case, the text, and what a command line takes for it. */
  typed: new Map(),
  past: [],
  /** What the drawing shows: `instance`, `mine`, `preset` or `compare`, and of which presets; -1 is what is configured. */
  view: { mode: usualMode, first: someFirst, second: someSecond },
};
let situation = choices?.under(state.decisions);

const word = (input, one) => `${data.inputs[input].name} = ${data.inputs[input].cases[one].label}`;
/** The only case that an input can have beside others that it could have. */
const implied = (input, at = situation) => (data.inputs[input].cases.length > 1 ? at.implied(input) : null);

/** The value that stands for a case: what was typed, or that of the loaded preset or of the defaults, where they have this case, else its example. */
function valueOf(input, one) {
  const { name, cases } = data.inputs[input];
  if (state.typed.get(input)?.one === one) return state.typed.get(input).value;
  const source = [state.loaded, 0].find((preset) => preset !== null && presets[preset]?.cases[input] === one);
  return presets[source]?.inputs[name] ?? cases[one].value;
}

const nameOf = (which) => (which < 0 ? 'your configuration' : presets[which].name);

/** Whether an element is present, absent or open in a preset, or in what is configured. */
function presence(element, which) {
  const { literal } = data.elements[element];
  if (which < 0) return literal == null ? 'unknown' : ['absent', 'open', 'present'][situation.truth(literal) + 1];
  if (presets[which].error != null) return 'unknown';
  return presets[which].set.has(element) ? 'present' : 'absent';
}

function difference(before, after) {
  if (before === after) return before;
  if (before === 'absent' && after === 'present') return 'added';
  if (before === 'present' && after === 'absent') return 'removed';
  return before === 'unknown' || after === 'unknown' ? 'unknown' : 'open';
}

function shown(element) {
  const { mode, first, second } = state.view;
  if (mode === 'instance') return data.instance.looks[data.elements[element].id] ?? 'absent';
  if (mode === 'compare') return difference(presence(element, first), presence(element, second));
  return presence(element, mode === 'mine' ? -1 : first);
}

/** The decisions that a preset or the configuration stands for; null where the formula does not know. */
function decisionsOf(which) {
  if (which < 0) return state.decisions;
  const { cases, error } = presets[which];
  if (!choices || error != null || cases.includes(null)) return null;
  return new Map(cases.entries());
}

/** Why an element is present or absent there. */
function whyElement(element, which) {
  const { literal } = data.elements[element];
  const decisions = decisionsOf(which);
  const here = presence(element, which);
  if (literal == null || decisions === null || (here !== 'present' && here !== 'absent')) return null;
  const why = choices.why(decisions, [here === 'present' ? -literal : literal]);
  return why && { ...why, decisions };
}

/** At most so many reasons: the most telling come first. */
function reasons(why, most = Infinity) {
  const more = why.reasons.length - most;
  const items = why.reasons.slice(0, most).map((reason) => make('li', {}, data.cnf.reasons[reason]));
  return make('ul', { class: 'reasons' }, items, more > 0 && make('li', {}, `and ${more} more`));
}

function chosen(why) {
  const chip = (input) => make('span', { class: 'chip' }, word(input, why.decisions.get(input)));
  return make('span', { class: 'chips' }, why.inputs.map(chip));
}

/* ---- Deciding ---- */

/** Takes new decisions, perhaps those of a preset, and says what follows from them. */
function decide(decisions, what, loaded = state.loaded, typed = state.typed) {
  state.past.push({ decisions: state.decisions, loaded: state.loaded, typed: state.typed });
  // What was typed goes with its case.
  const kept = new Map([...typed].filter(([input, { one }]) => decisions.get(input) === one));
  change({ decisions, loaded, typed: kept }, what);
}

function undo() {
  if (state.past.length > 0) change(state.past.pop(), 'Undone');
}

function change({ decisions, loaded, typed }, what) {
  const before = { situation };
  Object.assign(state, { decisions, loaded, typed });
  situation = choices.under(decisions);
  const follows = consequences(before);
  renderConfigurator();
  renderDrawing();
  renderMine();
  byId('consequences').replaceChildren(make('strong', {}, what), '. ', follows);
  keepInAddress();
  say(`${what}. ${follows}`);
}

function consequences(before) {
  const followed = [];
  const locked = [];
  const opened = [];
  data.inputs.forEach((input, index) => {
    const now = implied(index);
    if (now !== null && implied(index, before.situation) !== now) followed.push(word(index, now));
    if (state.decisions.has(index)) return;
    input.cases.forEach((_, one) => {
      const [was, is] = [before.situation.canChoose(index, one), situation.canChoose(index, one)];
      if (was && !is && now === null) locked.push(word(index, one));
      if (!was && is) opened.push(word(index, one));
    });
  });
  const turned = { present: [], absent: [] };
  data.elements.forEach((element, index) => {
    if (element.kind !== 'node' || element.literal == null) return;
    const now = presence(index, -1);
    if (now in turned && situation.truth(element.literal) !== before.situation.truth(element.literal)) turned[now].push(shortName(element));
  });
  const parts = [
    followed.length && `Follows: ${listed(followed)}`,
    locked.length && `No longer possible: ${listed(locked)}`,
    opened.length && `Possible again: ${listed(opened)}`,
    turned.present.length && `Now present: ${listed(turned.present)}`,
    turned.absent.length && `Now absent: ${listed(turned.absent)}`,
  ];
  const text = parts.filter(Boolean).map((part) => `${part}.`).join(' ');
  return text || 'Nothing else follows from it.';
}

function choose(input, one) {
  if (state.decisions.get(input) === one) return;
  const decisions = new Map(state.decisions);
  decisions.delete(input);
  if (one >= 0) decisions.set(input, one);
  decide(decisions, one < 0 ? `${data.inputs[input].name} is open` : word(input, one));
}

/* ---- Values that are typed ---- */

/** A typed text as a value: its case, and what a command line takes for it; or why it is none. */
function read(input, text) {
  const { typed, name } = data.inputs[input];
  const { one, value, problem } = typed.kind === 'numbers' ? readNumber(typed, text.trim()) : readText(typed, text);
  if (problem) return { problem: `${name} ${problem}` };
  return one >= 0 ? { one, value, text } : { problem: `${name} cannot be ${text}${typed.kind === 'numbers' ? `: it is ${extent(typed)}` : ''}` };
}

function readNumber({ whole, ranges }, text) {
  if (!(whole ? /^[-+]?\d+$/ : /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i).test(text)) return { problem: `has to be ${whole ? 'an integer' : 'a number'}` };
  // Integers may be larger than what doubles tell apart.
  const parse = whole ? (digits) => BigInt(digits.replace('+', '')) : Number;
  const number = parse(text);
  const isAbove = (low) => low === null || number > parse(low[0]) || (low[1] && number === parse(low[0]));
  const isBelow = (high) => high === null || number < parse(high[0]) || (high[1] && number === parse(high[0]));
  const isLarge = whole ? BigInt.asIntN(64, number) !== number : !Number.isFinite(number);
  return { one: isLarge ? -1 : ranges.findIndex((all) => all.some(([low, high]) => isAbove(low) && isBelow(high))), value: String(number) };
}

/** From the lowest to the highest number that is possible. */
function extent({ ranges }) {
  const end = (at, sign) => {
    const ends = ranges.flat().map((range) => range[at]);
    return ends.includes(null) ? null : ends.reduce((a, b) => (sign * Number(b[0]) > sign * Number(a[0]) ? b : a));
  };
  const [low, high] = [end(0, -1), end(1, 1)];
  return [low && `${low[1] ? 'at least' : 'more than'} ${low[0]}`, high && `${high[1] ? 'at most' : 'less than'} ${high[0]}`].filter(Boolean).join(' and ') || 'another number';
}

function readText({ named, others, shortest, longest, patterns }, text) {
  const { length } = [...text];
  if (length < (shortest ?? 0)) return { problem: `has at least ${count(shortest, 'character')}` };
  if (length > (longest ?? Infinity)) return { problem: `has at most ${count(longest, 'character')}` };
  const unmatched = patterns.find((pattern) => !whole(pattern).test(text));
  if (unmatched !== undefined) return { problem: `has to match ${unmatched}` };
  const one = named.findIndex((texts) => texts.includes(text));
  return { one: one < 0 ? others : one, value: yamlText(text) };
}

const whole = (pattern) => new RegExp(`^(?:${pattern})$`, 'u');

/** Whether what may be typed is understood here as it is by the command: not all patterns are. */
function isTypable({ typed }) {
  try {
    (typed?.patterns ?? []).forEach(whole);
    return typed != null && !(typed.patterns ?? []).some((pattern) => /\\[sS]|\(\?/.test(pattern));
  } catch {
    return false;
  }
}

/** A text as YAML: with quotes unless it could be nothing else. */
function yamlText(text) {
  if (/^[A-Za-z][\w-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)) return text;
  return /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]/.test(text) ? JSON.stringify(text) : `'${text.replaceAll("'", "''")}'`;
}

/** What a value is without the quotes of YAML. */
function plainText(value) {
  if (/^'.*'$/s.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  try {
    return /^".*"$/s.test(value) ? JSON.parse(value) : value;
  } catch {
    return value;
  }
}

/** Takes what was typed for an input; nothing leaves it open. */
function type(input, text) {
  const { name } = data.inputs[input];
  if (text === '' && state.decisions.has(input)) return choose(input, -1);
  const found = read(input, text);
  if (found.problem || isLocked(input, found.one)) {
    showProblem(input, found.problem ?? `${name} cannot be ${text} now`);
    if (!found.problem) explainCase(input, found.one);
    return;
  }
  const decisions = new Map([...state.decisions].filter(([other]) => other !== input)).set(input, found.one);
  decide(decisions, `${name} = ${text}`, state.loaded, new Map(state.typed).set(input, found));
}

function showProblem(input, text) {
  const { field, problem } = rows[input];
  problem.textContent = text;
  problem.hidden = text === '';
  field.setAttribute('aria-invalid', text !== '');
}

/* ---- The address ---- */

/** What is chosen and shown, for the part of the address behind `#`: a link to it shows the same, and so does the page when it is loaded anew. */
function addressed() {
  const parts = new URLSearchParams();
  if (state.loaded !== null) parts.set('preset', presets[state.loaded].name);
  for (const [input, one] of state.decisions) {
    const { name, cases } = data.inputs[input];
    const typed = state.typed.get(input);
    if (typed) parts.set(`v.${name}`, typed.text);
    else parts.set(`i.${name}`, cases[one].label);
  }
  const { mode, first, second } = state.view;
  if (mode !== usualMode) parts.set('view', mode);
  if (mode === 'preset' || mode === 'compare') [['first', first], ['second', second]].forEach(([key, preset]) => parts.set(key, preset < 0 ? '' : presets[preset].name));
  return parts.toString();
}

function keepInAddress() {
  history.replaceState(null, '', `#${addressed()}`);
}

/** Takes what the address says, as far as the template still has it and it is still possible. */
function takeAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const preset = (name) => presets.findIndex((one) => one.name === name && one.error == null);
  const view = parts.get('view');
  const isPossible = { instance: data.instance, mine: choices, preset: true, compare: true };
  if (Object.hasOwn(isPossible, view ?? '') && isPossible[view]) state.view.mode = view;
  for (const key of ['first', 'second']) {
    const at = preset(parts.get(key));
    if (at >= 0) state.view[key] = at;
    else if (parts.get(key) === '' && choices && state.view.mode === 'compare') state.view[key] = -1;
  }
  if (!choices) return;
  const [decisions, typed] = [new Map(), new Map()];
  for (const [key, label] of parts) {
    const input = data.inputs.findIndex(({ name }) => key.slice(2) === name);
    if (input < 0) continue;
    const isTyped = key.startsWith('v.') && isTypable(data.inputs[input]);
    const found = isTyped ? read(input, label) : { one: key.startsWith('i.') ? data.inputs[input].cases.findIndex((known) => known.label === label) : -1 };
    if (found.problem || found.one < 0) continue;
    decisions.set(input, found.one);
    if (isTyped) typed.set(input, found);
  }
  const taken = choices.under(decisions);
  if (!taken.consistent) return;
  Object.assign(state, { decisions, typed });
  state.loaded = preset(parts.get('preset')) >= 0 ? preset(parts.get('preset')) : null;
  situation = taken;
}

/** The address is that of what is chosen: links within the page lead there without changing it. */
function followLinks() {
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      const target = document.querySelector(link.getAttribute('href'));
      target.scrollIntoView();
      target.focus({ preventScroll: true });
    });
  }
}

/* ---- How many variants are left ---- */

/** Beyond this, nobody tells one number from the next. */
const COUNTED = 1000;
/** So many milliseconds are counted in one go. */
const SLICE = 8;
let counting = 0;

/** Counts the variants that are left, a few at a time, so that the page stays at hand. */
function renderLeft() {
  const mine = ++counting;
  const place = byId('left');
  place.textContent = 'counting …';
  const each = choices.variants(state.decisions, data.elements.map(({ literal }) => literal));
  let found = 0;
  const go = () => {
    if (mine !== counting) return;
    for (const end = performance.now() + SLICE; performance.now() < end; ) {
      const isOver = each.next().done;
      if (!isOver) found++;
      if (isOver || found > COUNTED) {
        place.textContent = isOver ? `${count(found, 'variant')} left` : `more than ${count(COUNTED, 'variant')} left`;
        return;
      }
    }
    setTimeout(go);
  };
  setTimeout(go);
}

/* ---- The configurator ---- */

const rows = [];

function buildConfigurator() {
  const place = byId('configurator');
  if (!choices) {
    const text = data.inexact ?? 'No formula of this template is at hand.';
    const presetHint = 'The presets below are exact: each of them was resolved.';
    place.append(make('div', { class: 'notice' }, make('p', {}, make('strong', {}, 'There is no configurator for this template. '), text), make('p', {}, presetHint)));
    return;
  }
  if (!situation.consistent) {
    const why = choices.why(new Map(), []);
    place.append(make('div', { class: 'notice wrong' }, make('p', {}, make('strong', {}, 'No variant is possible, '), 'whatever is chosen:'), reasons(why)));
    return;
  }
  if (data.inputs.length === 0) {
    place.append(make('div', { class: 'notice' }, make('p', {}, make('strong', {}, 'There is nothing to choose: '), 'no input is open, so there is one variant.')));
    return;
  }
  const load = make('select', { id: 'load', 'aria-label': 'Preset to start from' });
  load.append(make('option', { value: '' }, 'Preset …'));
  presets.forEach((preset, index) => {
    const possible = decisionsOf(index) !== null;
    load.append(make('option', { value: index, disabled: !possible }, possible ? preset.name : `${preset.name} (${preset.error ? 'rejected' : 'not in the formula'})`));
  });
  load.addEventListener('change', () => {
    const preset = Number(load.value);
    if (load.value !== '') decide(decisionsOf(preset), `Preset ${nameOf(preset)}`, preset, new Map());
    load.value = '';
  });
  const tools = make(
    'div',
    { class: 'tools' },
    load,
    button('Complete with defaults', complete, { id: 'complete' }),
    button('Undo', undo, { id: 'undo' }),
    button('Reset', () => decide(new Map(), 'All inputs are open', null), { id: 'reset' }),
  );
  const filter = make('input', { type: 'search', id: 'filter', placeholder: 'Find an input …', 'aria-label': 'Find an input', oninput: renderFilter });
  const hint = make('p', { class: 'hint keys' }, 'Arrow keys move between the cases of an input, ', make('kbd', {}, 'Space'), ' chooses, ', make('kbd', {}, 'Delete'), ' leaves open. A case behind a lock says why.');
  const list = make('div', { class: 'inputs' }, data.inputs.map(buildInput));
  fill(
    place,
    tools,
    make('div', { class: 'meter', id: 'meter', 'aria-hidden': true }),
    make('p', { id: 'consequences', class: 'consequences' }, 'Choose a case: what follows from it is shown here, in the list and in the topology.'),
    data.inputs.length > 12 && filter,
    list,
    hint,
  );
}

function complete() {
  const decisions = completion();
  if (decisions === null) return;
  const told = exceptions([...decisions].filter(([input]) => !state.decisions.has(input)).filter(([input]) => !choices.isDefault(decisions, input)));
  decide(decisions, ['Completed with defaults', ...told].join('. ').replace(/\.$/, ''));
}

function buildInput(input, index) {
  const id = `input-${index}`;
  // Where all values do the same, the value says more than that.
  const label = (one) => (input.cases.length === 1 ? valueOf(index, 0) : input.cases[one].label);
  const cases = [-1, ...input.cases.keys()].map((one) => buildCase(input, index, one, one < 0 ? 'open' : label(one)));
  const group = make('div', { class: 'cases', role: 'radiogroup', 'aria-labelledby': id, 'aria-describedby': `${id}-text`, onkeydown: (event) => moveInGroup(event, index, cases) }, cases);
  const status = make('span', { class: 'status' });
  const field = isTypable(input) && buildField(input, index);
  const problem = make('p', { class: 'problem', role: 'alert', id: `${id}-problem`, hidden: true });
  const why = make('div', { class: 'why', hidden: true });
  const row = make(
    'div',
    { class: 'input', 'data-input': input.name },
    make('div', { class: 'input-head' }, make('h3', { id }, input.name), input.type && make('span', { class: 'type' }, input.type), status),
    make('p', { class: 'input-text', id: `${id}-text` }, [input.description, defaultText(input), input.note].filter(Boolean).join(' · ')),
    make('div', { class: 'answers' }, group, field),
    problem,
    why,
  );
  rows.push({ row, cases, status, why, field, problem });
  return row;
}

function buildField(input, index) {
  const mode = input.typed.kind === 'texts' ? 'text' : input.typed.whole ? 'numeric' : 'decimal';
  const leave = (event) => event.key === 'Escape' && renderField(index);
  const field = make('input', { type: 'text', class: 'field', inputmode: mode, placeholder: 'type a value', 'aria-label': `Value of ${input.name}`, 'aria-describedby': `input-${index}-problem`, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', onchange: () => type(index, field.value), onkeydown: leave });
  return field;
}

/** What is typed, or else the value that stands for what is chosen. */
function renderField(input) {
  const { field } = rows[input];
  if (!field) return;
  const one = state.decisions.get(input);
  field.value = state.typed.get(input)?.text ?? (one === undefined ? '' : plainText(valueOf(input, one) ?? ''));
  showProblem(input, '');
}

function defaultText(input) {
  if (input.default != null) return `default ${presets[0]?.inputs[input.name] ?? input.cases[input.default].label}`;
  return input.follows ? `by default as ${input.follows}` : 'no default';
}

function buildCase(input, index, one, label) {
  const title = one >= 0 && input.cases[one].value !== label ? `for example ${input.cases[one].value}` : null;
  const explain = (event) => isLocked(index, one) && showTip(event.currentTarget, lockedTip(index, one));
  return make(
    'button',
    {
      type: 'button',
      role: 'radio',
      class: one < 0 ? 'case none' : 'case',
      title,
      'data-case': one,
      onclick: () => (isLocked(index, one) ? explainCase(index, one) : choose(index, one)),
      onmouseenter: explain,
      onfocus: explain,
      onmouseleave: hideTip,
      onblur: hideTip,
    },
    make('span', {}, label),
  );
}

function isLocked(input, one) {
  return one >= 0 && !situation.canChoose(input, one);
}

function moveInGroup(event, input, cases) {
  const at = cases.indexOf(document.activeElement);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const next = step ? (at + step + cases.length) % cases.length : { Home: 0, End: cases.length - 1 }[event.key];
  if (next !== undefined) {
    cases.forEach((one, index) => (one.tabIndex = index === next ? 0 : -1));
    cases[next].focus();
  } else if (event.key === 'Delete' || event.key === 'Backspace') {
    choose(input, -1);
    cases[0].focus();
  } else {
    return;
  }
  event.preventDefault();
}

function whyCase(input, one) {
  const others = new Map(state.decisions);
  others.delete(input);
  return { ...choices.why(others, [data.inputs[input].cases[one].literal]), decisions: others };
}

function lockedTip(input, one) {
  const why = whyCase(input, one);
  const cause = why.inputs.length ? ['conflicts with ', chosen(why)] : 'is in no variant';
  return [make('p', {}, make('strong', {}, word(input, one)), ' ', cause), make('p', { class: 'hint' }, 'Press to see why.')];
}

/** Opens the explanation of a locked case below its input, with the offer to make it possible. */
function explainCase(input, one) {
  hideTip();
  const { why: place, cases } = rows[input];
  const why = whyCase(input, one);
  const close = () => {
    place.hidden = true;
    cases[one + 1].focus();
  };
  const after = choices.enforce(state.decisions, input, one);
  const dropped = after && [...state.decisions].filter(([other, choice]) => other !== input && after.get(other) !== choice);
  const force = () => {
    place.hidden = true;
    decide(after, `${word(input, one)}, without ${listed(dropped.map(([other, choice]) => word(other, choice)))}`);
    cases[one + 1].focus();
  };
  const offer = after && button(['Choose it and drop ', make('b', {}, listed(dropped.map(([other, choice]) => word(other, choice))))], force, { class: 'primary' });
  fill(
    place,
    make('p', {}, make('strong', {}, word(input, one)), why.inputs.length ? ' is not possible beside ' : ' is not possible in any variant.', why.inputs.length > 0 && chosen(why)),
    why.reasons.length > 0 && make('p', { class: 'hint' }, 'The template says:'),
    why.reasons.length > 0 && reasons(why),
    make('div', { class: 'tools' }, offer ?? [], button('Close', close, { class: 'quiet' })),
  );
  place.hidden = false;
  place.onkeydown = (event) => event.key === 'Escape' && close();
  place.querySelector('button').focus();
  const text = why.inputs.map((other) => word(other, why.decisions.get(other)));
  say(`${word(input, one)} is not possible${text.length ? ` beside ${listed(text)}` : ' in any variant'}. ${why.reasons.map((reason) => data.cnf.reasons[reason]).join('. ')}`);
}

function renderConfigurator() {
  if (rows.length === 0) return;
  let follows = 0;
  data.inputs.forEach((input, index) => {
    const decided = state.decisions.get(index) ?? -1;
    const only = implied(index);
    if (only !== null) follows++;
    const { row, cases, status, why } = rows[index];
    why.hidden = true;
    renderField(index);
    const kind = decided >= 0 ? 'chosen' : only !== null ? 'follows' : 'open';
    row.dataset.state = kind;
    status.textContent = kind;
    const current = decided >= 0 ? decided : (only ?? -1);
    cases.forEach((element, at) => renderCase(element, { input, index, one: at - 1, current, isImplied: at - 1 === only, locked: isLocked(index, at - 1) }));
  });
  const open = data.inputs.length - state.decisions.size - follows;
  renderLeft();
  byId('progress').textContent = [`${count(open, 'input')} open`, state.decisions.size && `${state.decisions.size} chosen`, follows && `${follows} ${follows === 1 ? 'follows' : 'follow'}`].filter(Boolean).join(' · ');
  const part = (kind, number) => make('span', { class: kind, style: `flex-grow:${number}` });
  const parts = [['chosen', state.decisions.size], ['follows', follows], ['open', open]].filter(([, number]) => number > 0);
  byId('meter').replaceChildren(...parts.map(([kind, number]) => part(kind, number)));
  byId('undo').disabled = state.past.length === 0;
  byId('reset').disabled = state.decisions.size === 0;
  byId('complete').disabled = state.decisions.size === data.inputs.length;
  renderCommand();
}

function renderCase(element, { input, index, one, current, isImplied, locked }) {
  const isCurrent = one === current;
  element.setAttribute('aria-checked', isCurrent);
  element.tabIndex = isCurrent ? 0 : -1;
  element.classList.toggle('implied', isImplied);
  element.classList.toggle('locked', locked);
  if (one >= 0 && input.cases.length === 1) element.firstChild.textContent = valueOf(index, one);
  const label = element.firstChild.textContent;
  const note = locked ? ', locked: press to see why' : isImplied ? ', follows from what is chosen' : one >= 0 && one === input.default ? ', default' : '';
  element.setAttribute('aria-label', label + note);
}

function renderFilter() {
  const wanted = byId('filter').value.trim().toLowerCase();
  rows.forEach(({ row }, index) => {
    const { name, description } = data.inputs[index];
    row.hidden = !`${name} ${description ?? ''}`.toLowerCase().includes(wanted);
  });
}

/* ---- The command ---- */

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** What the command resolves: all that is chosen and follows, completed with defaults; null where that is not possible. */
function completion() {
  situation.completion ??= choices.complete(state.decisions, presets[0]?.cases);
  return situation.completion;
}

/** The inputs that a command has to name, with their cases: all but those whose default it is, whoever chose it. */
function named() {
  const complete = completion() ?? state.decisions;
  const usual = presets[0]?.cases ?? [];
  const isUsual = complete.size === usual.length && usual.every((one, input) => complete.get(input) === one);
  const isLeft = ([input, one]) => (isUsual || choices.isDefault(complete, input)) && (!state.decisions.has(input) || hasUsualValue(input, one, isUsual));
  return [...complete].filter((decision) => !isLeft(decision)).sort(([a], [b]) => a - b);
}

/** Whether the value of a decided input is the one that its default gives. What an expression gives is known where all have their defaults. */
function hasUsualValue(input, one, isUsual) {
  const { name, default: own } = data.inputs[input];
  if (own != null || isUsual) return valueOf(input, one) === presets[0]?.inputs[name];
  return !state.typed.has(input) && (state.loaded === null || presets[state.loaded].cases[input] !== one);
}

/** Values as the command line takes them; those that nobody knows are left out. */
function namedValues() {
  return named().flatMap(([input, one]) => (valueOf(input, one) == null ? [] : [[data.inputs[input].name, valueOf(input, one)]]));
}

function commandLine() {
  return [...data.command, ...namedValues().flatMap(([name, value]) => ['-i', `${name}=${value}`])].map(quoted).join(' ');
}

function renderCommand() {
  byId('command').hidden = false;
  // A flag and its value stay on one line.
  const words = commandLine().split(/ (?=-i )/);
  fill(byId('command-line'), words.flatMap((word, at) => (at === 0 ? [word] : [' ', make('span', {}, word)])));
  byId('command-note').textContent = commandNote();
  renderYaml();
}

/** What the command decides beyond what it names. */
function commandNote() {
  const isComplete = state.decisions.size === data.inputs.length;
  const added = named().filter(([input]) => !state.decisions.has(input));
  const usual = data.inputs.length - named().length;
  const unknown = named().filter(([input, one]) => valueOf(input, one) == null).map(([input]) => data.inputs[input].name);
  const parts = [
    isComplete && 'Every input is chosen: this is one variant.',
    usual && `${count(usual, 'input')} not named in it ${usual === 1 ? 'has its' : 'have their'} default.`,
    ...exceptions(added),
    unknown.length && `Add a value for ${listed(unknown)}: none is known that fits.`,
  ];
  return parts.filter(Boolean).join(' ');
}

/** Why these cases are not the defaults of their inputs. */
function exceptions(added) {
  const of = (kind) => added.filter(([input, one]) => kind(data.inputs[input], input, one)).map(([input, one]) => word(input, one));
  const follows = of((input, index) => implied(index) !== null);
  const hasDefault = (input) => input.default != null || input.coming?.length > 0;
  const displaced = of((input, index) => implied(index) === null && hasDefault(input));
  const computed = of((input, index) => implied(index) === null && !hasDefault(input) && input.follows);
  const none = of((input, index) => implied(index) === null && input.default == null && !input.follows);
  return [
    follows.length && `Follows from what is chosen: ${listed(follows)}.`,
    displaced.length && `Its default does not fit: ${listed(displaced)}.`,
    computed.length && `Named rather than left to an expression: ${listed(computed)}.`,
    none.length && `There is no default, so one that is possible is taken: ${listed(none)}.`,
  ].filter(Boolean);
}

/** What the file of inputs is called. */
const INPUTS_FILE = 'inputs.yaml';

/** A file of the inputs that the command names, for `--inputs`. */
function inputsFile() {
  const key = (name) => (/^[A-Za-z_][\w-]*$/.test(name) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(name) ? name : JSON.stringify(name));
  const lines = namedValues().map(([name, value]) => `${key(name)}: ${value}\n`);
  return lines.length > 0 ? lines.join('') : '{}\n';
}

/* ---- The YAML ---- */

/** What a preset resolves to, as the command writes it; null where it is rejected. */
function resolved(preset) {
  const runs = data.resolved.texts[preset];
  if (runs) return runs.flatMap(([start, length]) => data.resolved.lines.slice(start, start + length)).join('\n');
  const { set, inputs, error } = presets[preset];
  return error == null && data.writing ? composed((element) => set.has(element), (input) => inputs[data.inputs[input].name]).text : null;
}

/**
 * What the command writes where these elements are present and inputs have these values, both by position: its text, or why that is not
 * known here.
 */
function composed(isPresent, value) {
  const { later, whys, pieces } = data.writing;
  const holds = conditions(data.writing, data.elements.length, isPresent, value);
  const text = [];
  let unknown = null;
  // `around` is the list or map that a piece is a part of: whether anything of it is there yet.
  const write = (piece, around) => {
    if (typeof piece === 'string') text.push(piece);
    else if (Array.isArray(piece)) {
      if (!holds(piece[0])) return;
      for (let at = 1; at < piece.length; at++) write(piece[at], around);
      around.begun = true;
    } else if (piece.collection) {
      const own = { begun: false };
      for (const part of piece.collection) write(part, own);
    } else if (piece.behind) {
      if (around.begun) for (const part of piece.behind) write(part, around);
    } else {
      const [input, element, why] = later[piece.later];
      const given = input == null ? null : value(input);
      if (given != null && isPlain(given)) text.push(given);
      else unknown ??= `${fullName(element)} ${whys[why]}`;
    }
  };
  for (const piece of pieces) write(piece, { begun: false });
  return unknown === null ? { text: text.join('') } : { text: null, why: unknown };
}

/** Whether a value is written everywhere as the command line takes it. */
const isPlain = (value) => /^-?\d+(\.\d+)?$/.test(value) || (/^[A-Za-z]/.test(value) && yamlText(value) === value);

/** The value that the command gives to an input: one that it names, or a default; null where that is not known. */
function givenValue() {
  const complete = completion();
  const values = new Map(namedValues());
  return (input) => {
    const { name, cases, default: own } = data.inputs[input];
    if (values.has(name) || own != null) return values.get(name) ?? presets[0].inputs[name];
    const one = cases[complete.get(input)];
    return one.value === one.label ? one.value : null;
  };
}

/** What the command writes: its text, or why the page does not have it. */
function commandYaml() {
  const complete = completion();
  if (complete === null) return { text: null };
  const unnamed = named().find(([input, one]) => valueOf(input, one) == null);
  if (unnamed) return { text: null, why: `no value of ${data.inputs[unnamed[0]].name} is known that fits` };
  const model = data.writing && choices.search(choices.literals(complete));
  const made = model ? composed((element) => holds(model, data.elements[element].literal), givenValue()) : { text: null };
  const preset = made.text === null ? samePreset() : -1;
  return preset >= 0 ? { text: resolved(preset) } : made;
}

/**
 * The preset that gives exactly what the command gives: the same value to each input. Values that come of expressions count where their
 * case has one value only.
 */
function samePreset() {
  if (completion() === null) return -1;
  const value = givenValue();
  // What the command fixes a preset may have otherwise.
  const open = new Set(data.inputs.map(({ name }) => name));
  const isFixed = ([name, text]) => open.has(name) || text === presets[0].inputs[name];
  const isSame = ({ error, inputs }) => error == null && Object.entries(inputs).every(isFixed) && data.inputs.every(({ name }, input) => value(input) != null && value(input) === inputs[name]);
  return presets.findIndex(isSame);
}

function renderYaml() {
  const { text, why } = commandYaml();
  byId('save-yaml').disabled = text === null;
  const because = why ? `, because ${why}` : '';
  const lacks = text === null ? `The YAML of this variant is not in this page${because}: the command above works it out.` : '';
  const hides = text?.includes('(sensitive)') ? 'Values that are sensitive are (sensitive) in the YAML of this page: the command above writes them.' : '';
  byId('yaml-note').textContent = lacks || hides;
}

function saveYaml(preset, text = resolved(preset)) {
  download(presets[preset]?.id ? `${presets[preset].id}.yaml` : 'resolved.yaml', text);
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function copyCommand() {
  const text = commandLine();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection().selectAllChildren(byId('command-line'));
    document.execCommand('copy');
  }
  byId('copy').textContent = 'Copied';
  say('The command line is copied');
  setTimeout(() => (byId('copy').textContent = 'Copy'), 1500);
}

/* ---- The topology ---- */

const STATES = ['plain', 'present', 'absent', 'open', 'added', 'removed', 'changed', 'failed', 'unknown'];
const groups = [];

function buildDrawing() {
  const place = byId('drawing');
  // The drawing is the generator's own, and the policy of this page runs no script that it could hold.
  place.innerHTML = data.svg ?? '';
  const svg = place.querySelector('svg');
  if (!svg) {
    byId('topology').hidden = data.undrawn === null;
    byId('view-note').textContent = data.undrawn ?? '';
    for (const part of document.querySelectorAll('#topology .frame, #topology .drawing-foot')) part.hidden = true;
    return;
  }
  svg.removeAttribute('role');
  svg.setAttribute('aria-label', 'Nodes; arrow keys move between them');
  svg.setAttribute('role', 'group');
  for (const group of svg.querySelectorAll('[data-id]')) {
    const element = positions.get(group.dataset.id);
    if (element === undefined) continue;
    group.querySelectorAll('title').forEach((title) => title.remove());
    groups.push({ group, element, isNode: group.classList.contains('node') });
    group.addEventListener('mouseenter', () => showTip(group, elementTip(element)));
    group.addEventListener('mouseleave', hideTip);
    group.addEventListener('click', () => showDetails(element));
  }
  const nodes = groups.filter(({ isNode }) => isNode).map(({ group }) => group);
  nodes.forEach((group, at) => {
    group.setAttribute('role', 'button');
    group.setAttribute('tabindex', at === 0 ? 0 : -1);
    group.addEventListener('focus', () => showTip(group, elementTip(positions.get(group.dataset.id))));
    group.addEventListener('blur', hideTip);
    group.addEventListener('keydown', (event) => moveInDrawing(event, group, nodes));
  });
  buildZoom(place, svg);
  buildOverview();
  buildView();
}

/* Zooming: the frame scrolls over the drawing, and whoever zooms says which point of the frame stays where it is. */

const zoom = { scale: null, natural: null, place: null, svg: null, isAimed: false, hinted: null };
const SMALLEST = 0.02;
const LARGEST = 3;
/** Below this, names cannot be read, and boxes without them say more. */
const LEGIBLE = 0.45;

function buildZoom(place, svg) {
  const { width, height } = svg.viewBox.baseVal;
  Object.assign(zoom, { place, svg, natural: [width, height] });
  byId('zoom').append(
    button('−', () => zoomBy(1 / 1.25), { 'aria-label': 'Smaller', id: 'zoom-out' }),
    button('Fit', () => fitDrawing(), { id: 'zoom-fit', title: 'All of it' }),
    button('+', () => zoomBy(1.25), { 'aria-label': 'Larger', id: 'zoom-in' }),
  );
  place.addEventListener('wheel', zoomByWheel, { passive: false });
  place.addEventListener('pointermove', ({ movementX, movementY }) => (zoom.isAimed ||= movementX !== 0 || movementY !== 0));
  byId('zoom-hint').textContent = `${/Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'} and wheel zooms, dragging moves`;
  panByDrag(place);
  pinch(place);
  new ResizeObserver(() => zoom.scale === null && !place.hidden && fitDrawing()).observe(place);
  fitDrawing();
}

const inside = () => [zoom.place.clientWidth - 24, zoom.place.clientHeight - 24];

/** The scale at which all of the drawing is seen. */
function fitting() {
  const [width, height] = inside();
  return Math.max(SMALLEST, Math.min(1.25, width / zoom.natural[0], height / zoom.natural[1]));
}

function fitDrawing() {
  zoom.scale = null;
  applyZoom(fitting());
}

function applyZoom(scale) {
  const [width, height] = zoom.natural;
  zoom.shown = scale;
  zoom.svg.style.width = `${width * scale}px`;
  zoom.svg.style.height = `${height * scale}px`;
  zoom.svg.classList.toggle('far', scale < LEGIBLE);
  byId('zoom-out').disabled = scale <= Math.min(fitting(), 0.25);
  byId('zoom-in').disabled = scale >= LARGEST;
}

/** Zooms about a point of the window, or the middle of the frame; whether that changed anything. */
function zoomBy(factor, at) {
  const { place, svg, shown: before } = zoom;
  const scale = Math.min(LARGEST, Math.max(Math.min(fitting(), 0.25), before * factor));
  if (scale === before) return false;
  const frame = place.getBoundingClientRect();
  const [x, y] = at ?? [frame.left + place.clientWidth / 2, frame.top + place.clientHeight / 2];
  const was = svg.getBoundingClientRect();
  const [part, deep] = [(x - was.left) / was.width, (y - was.top) / was.height];
  zoom.scale = scale;
  applyZoom(scale);
  const now = svg.getBoundingClientRect();
  place.scrollLeft += now.left + part * now.width - x;
  place.scrollTop += now.top + deep * now.height - y;
  hideTip();
  return true;
}

/** A wheel scrolls the page, as everywhere else; with ctrl it zooms, and so does what touchpads make of a pinch. */
function zoomByWheel(event) {
  if (!event.ctrlKey && !event.metaKey) return hintAtZoom();
  event.preventDefault();
  const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
  zoomBy(Math.exp(-Math.max(-40, Math.min(40, event.deltaY * lines)) * 0.01), [event.clientX, event.clientY]);
  byId('zoom-hint').hidden = true;
}

/** So many milliseconds the hint is shown. */
const HINTED = 1800;

/** Says how to zoom to whoever points at the drawing and turns the wheel, but not where the page scrolls below a pointer at rest. */
function hintAtZoom() {
  if (!zoom.isAimed) return;
  zoom.isAimed = false;
  byId('zoom-hint').hidden = false;
  clearTimeout(zoom.hinted);
  zoom.hinted = setTimeout(() => (byId('zoom-hint').hidden = true), HINTED);
}

/** A press that moves is no press: only one that stays is one of the node below it. */
function panByDrag(place) {
  let from = null;
  place.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch' && event.button === 0) from = { x: event.clientX, y: event.clientY, left: place.scrollLeft, top: place.scrollTop, moved: false };
  });
  addEventListener('pointermove', (event) => {
    if (from === null) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    if (!from.moved && Math.hypot(x, y) < 4) return;
    from.moved = true;
    place.classList.add('dragged');
    hideTip();
    place.scrollLeft = from.left - x;
    place.scrollTop = from.top - y;
  });
  const end = () => {
    place.classList.remove('dragged');
    // The click comes after this.
    const moved = from?.moved;
    from = null;
    if (moved) addEventListener('click', swallow, { capture: true, once: true });
    if (moved) setTimeout(() => removeEventListener('click', swallow, { capture: true }));
  };
  const swallow = (event) => event.stopPropagation();
  addEventListener('pointerup', end);
  addEventListener('pointercancel', end);
}

/** One finger scrolls, as it does everywhere; two zoom about the point between them. */
function pinch(place) {
  let apart = null;
  const between = ([a, b]) => [Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY), [(a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2]];
  const move = (event) => {
    if (event.touches.length !== 2) return void (apart = null);
    event.preventDefault();
    const [distance, middle] = between(event.touches);
    if (apart !== null) zoomBy(distance / apart, middle);
    apart = distance;
  };
  place.addEventListener('touchstart', move, { passive: false });
  place.addEventListener('touchmove', move, { passive: false });
  place.addEventListener('touchend', () => (apart = null));
}

/* Where all of a drawing can be seen but not read, its nodes are listed by what becomes of them; each leads to its place in the drawing. */

const overview = { tiles: [], at: -1, by: 'state', open: new Set() };

/** So few that are alike are listed one by one. */
const FEW = 4;
/** What names have in common that differ in digits only. */
const shape = (name) => name.replace(/\d+/g, '*');

function buildOverview() {
  const nodes = groups.filter(({ isNode }) => isNode);
  overview.tiles = nodes.map(({ group, element }) => {
    const name = shortName(data.elements[element]);
    const tile = button(name, () => centre(group), { class: 'tile', title: name });
    return { tile, group, element, name };
  });
  const search = make('input', { type: 'search', id: 'find-node', placeholder: 'Find a node …', 'aria-label': 'Find a node', oninput: () => findNode(0), onkeydown: (event) => event.key === 'Enter' && findNode(event.shiftKey ? -1 : 1) });
  const by = make('select', { id: 'overview-by', 'aria-label': 'How the overview is ordered', onchange: () => (Object.assign(overview, { by: by.value }), renderOverview()) }, make('option', { value: 'state' }, 'by state'), data.elements.some(({ host }) => host != null) && make('option', { value: 'host' }, 'by host'));
  const toggle = button('', () => showOverview(byId('overview').hidden), { id: 'overview-toggle' });
  byId('drawing-tools').append(search, toggle, by.options.length > 1 ? by : '', make('span', { class: 'hint', id: 'find-hits' }));
  showOverview(zoom.shown < LEGIBLE && nodes.length > 1);
}

function showOverview(wanted) {
  byId('overview').hidden = !wanted;
  zoom.place.hidden = wanted;
  byId('zoom').hidden = wanted;
  if (byId('overview-by')) byId('overview-by').hidden = !wanted;
  byId('overview-toggle').textContent = wanted ? 'Drawing' : 'Overview';
  if (!wanted && zoom.scale === null) fitDrawing();
}

function renderOverview() {
  for (const { tile, element, name } of overview.tiles) {
    const now = shown(element);
    tile.className = `tile ${now}`;
    tile.setAttribute('aria-label', `${name}, ${stateName(now)}`);
  }
  fill(byId('overview'), overview.by === 'host' ? hostParts() : stateParts());
}

const grouped = (list, key) => list.reduce((found, one) => found.set(key(one), [...(found.get(key(one)) ?? []), one]), new Map());
const tilesOf = (list) => make('div', { class: 'tiles' }, list.map(({ tile }) => tile));

/** A part of the overview that is collapsed until somebody opens it, and stays as it was left. */
function collapsed(id, title, content) {
  const toggled = (event) => overview.open[event.target.open ? 'add' : 'delete'](id);
  return make('details', { class: 'alike', open: overview.open.has(id), ontoggle: toggled }, make('summary', {}, title), content);
}

/** What is in each state; what is alike is collapsed. */
function stateParts() {
  const found = grouped(overview.tiles, ({ element }) => shown(element));
  const part = (now) => {
    const alike = [...grouped(found.get(now), ({ name }) => shape(name))];
    const [many, few] = [alike.filter(([, list]) => list.length > FEW), alike.filter(([, list]) => list.length <= FEW)];
    const kinds = many.map(([name, list]) => collapsed(`${now} ${name}`, [make('span', { class: `key ${now}` }, make('i', { 'aria-hidden': true }), name), ` × ${list.length.toLocaleString('en')}`], tilesOf(list)));
    return make('section', {}, make('h3', {}, `${stateName(now)} (${found.get(now).length.toLocaleString('en')})`), kinds, few.length > 0 && tilesOf(few.flatMap(([, list]) => list)));
  };
  return ['failed', 'added', 'removed', 'changed', 'present', 'plain', 'open', 'absent', 'unknown'].filter((now) => found.has(now)).map(part);
}

/** What each node hosts or may host, collapsed; and what nothing hosts. A node stands below the first of its hosts. */
function hostParts() {
  const hostOf = new Map();
  data.elements.forEach(({ host, container }, relation) => {
    const now = host == null ? 'absent' : shown(relation);
    if (now !== 'absent' && !hostOf.has(container)) hostOf.set(container, host);
  });
  const hosted = grouped(overview.tiles, ({ element }) => hostOf.get(element) ?? -1);
  const hosts = overview.tiles.filter(({ element }) => hosted.has(element));
  const free = (hosted.get(-1) ?? []).filter(({ element }) => !hosted.has(element));
  const part = ({ element, name }) => collapsed(`host ${element}`, [make('span', { class: `key ${shown(element)}` }, make('i', { 'aria-hidden': true }), name), ` hosts ${hosted.get(element).length.toLocaleString('en')}`], tilesOf(hosted.get(element)));
  const tops = hosts.filter(({ element }) => !hostOf.has(element));
  return [
    make('section', {}, make('h3', {}, `hosts (${hosts.length.toLocaleString('en')})`), hosts.map(part), tops.length > 0 && tilesOf(tops)),
    free.length > 0 && make('section', {}, make('h3', {}, `neither host nor hosted (${free.length.toLocaleString('en')})`), tilesOf(free)),
  ];
}

/** What is found stays in the overview; Enter leads from one to the next in the drawing. */
function findNode(step) {
  const wanted = byId('find-node').value.trim().toLowerCase();
  const hits = wanted === '' ? [] : overview.tiles.filter(({ name }) => name.toLowerCase().includes(wanted));
  const isHit = new Set(hits);
  for (const one of overview.tiles) {
    one.group.classList.remove('found');
    one.tile.hidden = wanted !== '' && !isHit.has(one);
  }
  // What is found is not to be collapsed.
  for (const part of byId('overview').querySelectorAll('details')) {
    const has = part.querySelector('.tile:not([hidden])') !== null;
    part.hidden = wanted !== '' && !has;
    if (wanted !== '' && has) part.open = true;
  }
  byId('find-hits').textContent = wanted === '' ? '' : hits.length === 0 ? 'none' : count(hits.length, 'node');
  overview.at = step === 0 ? -1 : (overview.at + step + hits.length) % hits.length;
  const hit = hits[Math.max(0, overview.at)];
  if (hit && (step !== 0 || byId('overview').hidden)) centre(hit.group);
  if (hit && step !== 0) byId('find-hits').textContent = `${overview.at + 1} of ${hits.length}`;
}

/** Shows a node in the middle of the drawing, at a size at which it can be read. */
function centre(group) {
  showOverview(false);
  if (zoom.shown < 0.9) {
    zoom.scale = 1;
    applyZoom(1);
  }
  const [box, frame] = [group.getBoundingClientRect(), zoom.place.getBoundingClientRect()];
  zoom.place.scrollLeft += box.left + box.width / 2 - frame.left - frame.width / 2;
  zoom.place.scrollTop += box.top + box.height / 2 - frame.top - frame.height / 2;
  groups.forEach((other) => other.group.classList.toggle('found', other.group === group));
  say(group.getAttribute('aria-label'));
}

/** To the nearest node in the direction of the arrow. */
function moveInDrawing(event, group, nodes) {
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    showDetails(positions.get(group.dataset.id));
    return;
  }
  const direction = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
  if (!direction) return;
  event.preventDefault();
  const center = (one) => {
    const box = one.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = center(group);
  const distance = (one) => {
    const [dx, dy] = [center(one)[0] - x, center(one)[1] - y];
    const [along, across] = [dx * direction[0] + dy * direction[1], Math.abs(dx * direction[1]) + Math.abs(dy * direction[0])];
    return along > 1 ? along + 2 * across : Infinity;
  };
  const next = nodes.reduce((best, one) => (distance(one) < distance(best) ? one : best), group);
  if (next === group) return;
  group.setAttribute('tabindex', -1);
  next.setAttribute('tabindex', 0);
  next.focus();
}

function buildView() {
  const modes = [data.instance && ['instance', 'Instance'], choices && situation.consistent && ['mine', 'Configuration'], ['preset', 'Preset'], presets.length > 1 && ['compare', 'Compare']].filter(Boolean);
  const radios = modes.map(([mode, label]) => button(label, () => setView({ mode }), { role: 'radio', 'data-mode': mode }));
  const group = make('div', { class: 'segments', role: 'radiogroup', 'aria-label': 'What the topology shows', onkeydown: (event) => moveInSegments(event, radios) }, radios);
  const select = (key, label) => {
    const options = presets.map((preset, index) => make('option', { value: index, disabled: preset.error != null }, preset.name + (preset.error != null ? ' (rejected)' : '')));
    const made = make('select', { id: `view-${key}`, 'aria-label': label, onchange: () => setView({ [key]: Number(made.value) }) }, options);
    return made;
  };
  const [first, second] = [select('first', 'Preset'), select('second', 'Second preset')];
  byId('view').append(group, first, make('span', { class: 'arrow', id: 'view-arrow', 'aria-hidden': true }, '→'), second);
}

function moveInSegments(event, radios) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = radios[(radios.indexOf(document.activeElement) + step + radios.length) % radios.length];
  next.focus();
  next.click();
}

function setView(part) {
  Object.assign(state.view, part);
  renderDrawing();
  keepInAddress();
  say(byId('view-note').textContent);
}

function renderView() {
  const { mode, first, second } = state.view;
  byId('view').querySelectorAll('[role=radio]').forEach((radio) => {
    radio.setAttribute('aria-checked', radio.dataset.mode === mode);
    radio.tabIndex = radio.dataset.mode === mode ? 0 : -1;
  });
  const [firstSelect, secondSelect] = [byId('view-first'), byId('view-second')];
  for (const [select, value, isShown] of [[firstSelect, first, mode === 'preset' || mode === 'compare'], [secondSelect, second, mode === 'compare']]) {
    // Only where presets are compared is the configuration one of them.
    const own = [...select.options].find((option) => option.value === '-1');
    const wanted = mode === 'compare' && choices && situation.consistent;
    if (wanted && !own) select.prepend(make('option', { value: -1 }, 'your configuration'));
    if (!wanted && own) own.remove();
    select.value = value;
    select.hidden = !isShown;
  }
  byId('view-arrow').hidden = mode !== 'compare';
}

function renderDrawing() {
  if (state.view.mode === 'preset' && state.view.first < 0) state.view.first = 0;
  renderPlan();
  if (groups.length === 0) return;
  renderView();
  const found = new Map();
  for (const { group, element, isNode } of groups) {
    const now = shown(element);
    // Of a line that forks what is absent lies below what is there.
    if (!isNode && now === 'absent' && !group.classList.contains('absent')) group.parentNode.prepend(group);
    group.classList.remove(...STATES);
    group.classList.add(now);
    if (!isNode) {
      signLine(group, now);
      continue;
    }
    group.setAttribute('aria-label', `${data.elements[element].id}, ${stateName(now)}`);
    found.set(now, (found.get(now) ?? 0) + 1);
  }
  const { mode, first, second } = state.view;
  const legend = mode === 'instance' ? INSTANCE : mode === 'compare' ? { present: 'in both', removed: `only in ${nameOf(first)}`, added: `only in ${nameOf(second)}`, absent: 'in neither', open: 'open' } : { present: 'present', open: 'open', absent: 'absent', unknown: 'unknown' };
  const entries = Object.entries(legend).filter(([name]) => found.has(name) || name === 'present');
  byId('legend').replaceChildren(...entries.map(([name, label]) => make('span', { class: `key ${name}` }, make('i', { 'aria-hidden': true }), `${count(found.get(name) ?? 0, 'node')} ${label}`)));
  byId('view-note').textContent = viewNote();
  renderOverview();
}

/** Colours alone do not tell everybody which lines are added and which are removed: these have a sign at their middle. */
function signLine(group, now) {
  const isSigned = now === 'added' || now === 'removed';
  if (!isSigned) return group.querySelector('.sign')?.remove();
  if (group.querySelector('.sign')) return;
  const line = group.querySelector('.line');
  const { x, y } = line.getPointAtLength(line.getTotalLength() / 2);
  const sign = document.querySelector('#drawing .node .sign').cloneNode(true);
  sign.setAttribute('transform', `translate(${x} ${y})scale(.7)`);
  group.append(sign);
}

/** What the states of an instance are called, by what they look like. */
const INSTANCE = { present: 'started', plain: 'not started', failed: 'error', absent: 'not there' };
const COMPARED = { present: 'in both', absent: 'in neither' };
const stateName = (now) => ({ instance: INSTANCE, compare: COMPARED }[state.view.mode]?.[now] ?? now);

function instanceNote() {
  const { source, revision, time, others, open } = data.instance;
  const more = [open && 'something is going on', others.length > 0 && `beside the template there ${others.length === 1 ? 'is' : 'are'} ${listed(others)}`].filter(Boolean);
  return `${source}, revision ${revision} of ${time.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')}${more.map((text) => `; ${text}`).join('')}.`;
}

function viewNote() {
  const { mode, first, second } = state.view;
  if (mode === 'instance') return instanceNote();
  if (mode === 'mine') return 'What your choices settle so far. Point at a node for its reason, press it for more.';
  if (mode === 'compare') return `What ${nameOf(second)} adds and removes, seen from ${nameOf(first)}.`;
  const { description, error } = presets[first];
  return error?.split('\n')[0] ?? description ?? 'Without a preset every input has its default.';
}

/* ---- The plan ---- */

/** Beyond this, nobody reads them side by side. */
const STEPS = 400;

const told = (at) => data.plans.words[at];
/** A plan of the data with its words, or the errors in its place; nothing where the data has neither. */
function spoken(plan) {
  if (!plan || plan.errors) return { errors: plan?.errors };
  return { plan: { head: plan.head, changes: plan.changes.map((change) => change.map(told)), steps: plan.steps.map(([wave, ...rest]) => [wave, ...rest.map(told)]) } };
}
const arrows = (text) => text.replaceAll('->', '→');
const planCommand = (...more) => [...data.command.map((word, at) => (at === 1 ? 'plan' : word)), ...more].map(quoted).join(' ');

/** The flags of the command that errors name in their help: with them there is a plan. */
function remedies(errors) {
  const named = errors.map(({ help }) => help?.match(/`(--ignore|--managed) ([^`]+)`/)).filter(Boolean);
  return [...new Map(named.map(([text, flag, element]) => [text, [flag, element]])).values()].flat();
}

/** The plan of what the drawing shows, as far as it is here, what it is of, and the command for it. */
function planned() {
  const { mode, first, second } = state.view;
  const { deploy, adapt } = data.plans;
  const shown = { instance: [], mine: [-1], preset: [first], compare: [first, second] }[mode];
  const rejected = shown.find((which) => (which < 0 ? completion() === null : presets[which].error != null));
  if (rejected !== undefined) return { note: rejected < 0 ? 'There is no plan, because no variant is possible.' : `There is no plan, because ${nameOf(rejected)} is rejected.` };
  if (mode === 'instance') {
    const [kind, name] = data.instance.source.split(/:(.*)/s);
    const isStored = kind === 'instance' && name !== undefined;
    return { note: isStored ? 'The command says what is left to do.' : 'What is left to do is known where the instance is kept.', line: isStored ? ['cuvee', 'instance', 'plan', name.split('@')[0]].map(quoted).join(' ') : undefined };
  }
  const flag = (name, preset) => (preset < 0 ? [name, INPUTS_FILE] : presets[preset]?.id == null ? [] : [name, presets[preset].id]);
  if (mode === 'compare') {
    const [from, to] = [first, second].map((which) => (which < 0 ? samePreset() : which));
    if (first === second || (from >= 0 && from === to)) return { note: 'Nothing has to be done: both are the same.' };
    const isOwn = first < 0 || second < 0;
    return {
      ...spoken(adapt[from]?.[to]),
      why: isOwn && 'it follows from every value that differs, and is there for presets only',
      how: isOwn && `save the inputs as ${INPUTS_FILE}, and the command works it out`,
      of: `from ${nameOf(first)} to ${nameOf(second)}`,
      command: [...flag('--from', first), ...flag('--to', second)],
    };
  }
  if (mode === 'preset') return { ...spoken(deploy[first]), of: nameOf(first), command: flag('--preset', first) };
  const own = ownPlan();
  const found = own.plan || own.errors ? own : spoken(deploy[samePreset()]);
  return { ...found, why: own.why, of: 'your configuration', command: namedValues().flatMap(([name, value]) => ['-i', `${name}=${value}`]) };
}

/** The plan of what the command resolves, or why the page does not have it. */
function ownPlan() {
  const complete = completion();
  if (complete === null || !data.plans.parts) return { why: data.plans.apart };
  const unnamed = named().find(([input, one]) => valueOf(input, one) == null);
  if (unnamed) return { why: `no value of ${data.inputs[unnamed[0]].name} is known that fits` };
  const model = choices.search(choices.literals(complete));
  if (!model) return {};
  const known = conditions(data.writing, data.elements.length, (element) => holds(model, data.elements[element].literal), givenValue());
  const open = uncomputed(data.writing, known);
  return open ? { why: `${fullName(open.element)} ${open.why}` } : deployment(data.plans.parts, data.plans.words, known);
}

function renderPlan() {
  const { plan, errors, why, how, of, note, command, line } = planned();
  byId('plan-title').textContent = of ? `Plan of ${of}`.replace('of from', 'from') : 'Plan';
  byId('plan-head').textContent = plan?.head ?? '';
  fill(byId('plan-errors'), errors && planErrors(errors));
  byId('plan-errors').hidden = !errors;
  fill(byId('plan-changes'), plan ? changeParts(plan) : []);
  fill(byId('plan-lanes'), plan?.steps.length > 0 && lanes(plan.steps.slice(0, STEPS), new Map(plan.changes)));
  byId('plan-lanes').hidden = !(plan?.steps.length > 0);
  const more = (plan?.steps.length ?? 0) - STEPS;
  const unread = more > 0 ? `${count(more, 'more step')}: the command prints them all.` : 'What can be done at the same time stands in one column, what runs in one place in one row.';
  const flags = remedies(errors ?? []);
  const missing = errors ? (flags.length > 0 ? 'The command plans it all the same.' : '') : `This plan is not in the page${why ? `, because ${why}` : ''}: ${how || 'the command works it out'}.`;
  byId('plan-note').textContent = note ?? (plan ? (plan.steps.length > 0 ? unread : '') : missing);
  byId('plan-command').textContent = line ?? (command ? planCommand(...command, ...flags) : '');
  byId('plan-command').hidden = byId('plan-command').textContent === '';
}

/** Why there is no plan, as the command says it. */
function planErrors(errors) {
  const item = ({ message, help }) => make('li', {}, coded(message), help && make('div', { class: 'hint' }, coded(help)));
  return [make('strong', {}, 'There is no plan'), make('ul', { class: 'reasons' }, errors.map(item))];
}

/** The state of an element that changes in this way. */
const lookOf = (how) => (how === 'added' || how === 'removed' ? how : 'changed');

/** How many elements of each kind these are: of nodes as many as the head of the plan says. */
function kindsOf(changes) {
  const kinds = [...grouped(changes, ([element]) => element.replace(/\..*/s, ''))];
  return kinds.map(([kind, list]) => count(list.length, kind, kind === 'policy' ? 'policies' : `${kind}s`)).join(', ');
}

/** How elements change, and why, those that change alike together. */
function changeParts({ changes }) {
  const item = ([element, , why]) => make('li', {}, code(element), why !== '' && make('span', { class: 'hint' }, ` ${arrows(why)}`));
  const part = ([how, list]) => make('details', { class: 'alike', open: list.length <= 8 }, make('summary', {}, badge(lookOf(how), `${marks[lookOf(how)]} ${how}`), ` ${kindsOf(list)}`), make('ul', { class: 'plain-list' }, list.map(item)));
  return [...grouped(changes, ([, how]) => how)].map(part);
}

/** Rounds from left to right, a lane for each place where something runs. What becomes of nodes is by their identifiers. */
function lanes(steps, changes) {
  const lane = ([, , , implementation, place]) => place || (implementation === ORCHESTRATED ? 'the orchestrator' : 'no operation');
  const places = [...new Set(steps.map(lane))];
  const waves = [...new Set(steps.map(([wave]) => wave))];
  const cells = grouped(steps, (step) => `${lane(step)} ${step[0]}`);
  const cell = (place, wave) => make('td', {}, (cells.get(`${place} ${wave}`) ?? []).map((step) => stepCard(step, changes)));
  const head = make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Where'), waves.map((wave) => make('th', { scope: 'col' }, `${wave}`))));
  const row = (place) => make('tr', {}, make('th', { scope: 'row' }, place), waves.map((wave) => cell(place, wave)));
  return make('table', { class: 'lanes' }, make('caption', { class: 'unseen' }, 'What is done in which round, and where'), head, make('tbody', {}, places.map(row)));
}

function stepCard([wave, element, operation, implementation, place, after], changes) {
  const how = changes.get(`node.${element.replace(/ ×\S+$/, '')}`);
  return make(
    'div',
    { class: how ? `step ${lookOf(how)}` : 'step', 'data-step': [wave, element, operation, implementation, place, after].join('\n') },
    make('strong', {}, how && [mark(lookOf(how), how), ' '], arrows(element)),
    operation !== '' && make('span', { class: 'does' }, operation),
    ![ORCHESTRATED, IDLE, ''].includes(implementation) && make('span', { class: 'runs' }, implementation),
    after !== '' && make('span', { class: after === '-' ? 'after removed' : 'after present' }, after === '-' ? 'gone' : after),
  );
}

/* ---- One element ---- */

const shortName = (element) => element.id.replace(/^node\./, '');

/** Elements of one kind and name in one container, of which only their positions differ. */
const namesakes = new Map();
const sharedName = ({ container, kind, name }) => `${container ?? ''} ${kind} ${name}`;
data.elements.forEach((element, index) => namesakes.set(sharedName(element), [...(namesakes.get(sharedName(element)) ?? []), index]));

/** The name of an element as its author wrote it, and which it is where there are several of that name. */
function ownName(element) {
  const { name } = data.elements[element];
  const all = namesakes.get(sharedName(data.elements[element]));
  return all.length === 1 ? name : `${name} (${all.indexOf(element) + 1} of ${all.length})`;
}

/** The same with all that it belongs to. */
function fullName(element) {
  const { kind, container } = data.elements[element];
  const own = kind === 'node' ? ownName(element) : `${kind} ${ownName(element)}`;
  return container == null ? own : `${own} of ${fullName(container)}`;
}

const marks = { present: '●', plain: '●', absent: '○', open: '◐', added: '+', removed: '−', changed: '~', failed: '!', unknown: '?' };
const mark = (name, label = name) => [make('span', { class: `mark ${name}`, 'aria-hidden': true }, marks[name]), unseen(label)];
const badge = (name, text = name) => make('span', { class: `badge ${name}` }, text);

/** The states of what the instance has of a node. */
function statesOf(element) {
  const states = data.instance?.states[data.elements[element].id];
  return states && make('p', {}, states.map(([id, now, note]) => make('span', { class: 'chip' }, `${id}: ${now}${note ? ` (${note})` : ''}`)));
}

/** Which variants the drawing shows, for which reasons are given. */
function viewed() {
  const { mode, first, second } = state.view;
  return { instance: [], mine: [-1], preset: [first] }[mode] ?? [first, second];
}

function whyParts(element, which, most) {
  const here = presence(element, which);
  if (here === 'open') return make('p', {}, 'Open: it depends on inputs that are not decided.');
  const why = whyElement(element, which);
  if (!why) return null;
  if (why.inputs.length === 0) {
    return [make('p', {}, `Always ${here}, whatever is chosen.`), why.reasons.length > 0 && reasons(why, most)];
  }
  return [make('p', {}, `${here === 'present' ? 'Present' : 'Absent'} because of `, chosen(why)), why.reasons.length > 0 && reasons(why, most)];
}

function elementTip(element) {
  const { conditions, place } = data.elements[element];
  const which = viewed();
  const parts = which.flatMap((one) => [
    which.length > 1 && make('p', { class: 'hint' }, `In ${nameOf(one)}: ${presence(element, one)}`),
    whyParts(element, one, which.length > 1 ? 1 : 3),
  ]);
  const explained = parts.flat().some((part) => part && part.classList?.contains('reasons'));
  return [
    make('p', { class: 'tip-title' }, make('strong', {}, fullName(element)), ' ', badge(shown(element), stateName(shown(element)))),
    ...parts,
    statesOf(element),
    conditions && !explained && make('p', {}, 'Condition ', code(conditions)),
    place && make('p', { class: 'hint' }, place),
  ];
}

function showDetails(element) {
  hideTip();
  const dialog = byId('details');
  const { id, kind, conditions, place } = data.elements[element];
  const link = (other) => make('li', {}, mark(shown(other)), ' ', button(`${data.elements[other].kind} ${ownName(other)}`, () => showDetails(other), { class: 'link' }));
  const container = data.elements[element].container;
  fill(
    dialog,
    make('div', { class: 'panel-head' }, make('h2', { id: 'details-title' }, fullName(element)), button('Close', () => dialog.close(), { class: 'quiet' })),
    make('p', { class: 'chips' }, make('span', { class: 'type' }, kind), code(id), badge(shown(element), stateName(shown(element)))),
    statesOf(element) && [make('h3', {}, 'Instance'), statesOf(element)],
    viewed().map((which) => {
      const why = whyParts(element, which);
      return why && [make('h3', {}, `In ${nameOf(which)}`), why];
    }),
    conditions && [make('h3', {}, 'Conditions'), make('pre', {}, conditions)],
    place && [make('h3', {}, 'Declared'), make('p', {}, code(place))],
    make('h3', {}, 'Presets'),
    make('ul', { class: 'plain-list' }, presets.map((preset, index) => make('li', {}, mark(presence(element, index)), ' ', preset.name))),
    container != null && [make('h3', {}, 'Belongs to'), make('ul', { class: 'plain-list' }, link(container))],
    children[element].length > 0 && [make('h3', {}, 'Contains'), make('ul', { class: 'plain-list' }, children[element].map(link))],
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

/* ---- Hints beside what they are about ---- */

function showTip(target, content) {
  const tip = byId('tip');
  fill(tip, content);
  tip.hidden = false;
  target.setAttribute('aria-describedby', 'tip');
  const at = target.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left + at.width / 2 - width / 2, document.documentElement.clientWidth - width - 8));
  const below = at.bottom + 8;
  const top = below + height < innerHeight ? below : Math.max(8, at.top - height - 8);
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}

function hideTip() {
  byId('tip').hidden = true;
  document.querySelectorAll('[aria-describedby=tip]').forEach((target) => target.removeAttribute('aria-describedby'));
}

/* ---- The matrix ---- */

const matrix = { open: new Set(), filter: '', kind: '', differing: false, mine: [] };

function buildMatrix() {
  const kinds = [...new Set(data.elements.map(({ kind }) => kind))];
  const filter = make('input', { type: 'search', placeholder: 'Find an element …', 'aria-label': 'Find an element', id: 'matrix-filter', oninput: () => setMatrix({ filter: filter.value.trim().toLowerCase() }) });
  const kind = make('select', { 'aria-label': 'Kind of element', onchange: () => setMatrix({ kind: kind.value }) }, make('option', { value: '' }, 'all kinds'), kinds.map((one) => make('option', { value: one }, one)));
  const differing = make('input', { type: 'checkbox', role: 'switch', id: 'differing', onchange: () => setMatrix({ differing: differing.checked }) });
  const all = button('Expand all', () => {
    const closing = matrix.open.size > 0;
    setMatrix({ open: new Set(closing ? [] : children.keys()) });
    all.textContent = closing ? 'Expand all' : 'Collapse all';
  });
  byId('matrix-tools').append(filter, kind, make('label', { class: 'switch' }, differing, ' Differences only'), all);
  byId('rejected').append(...rejections().map(([told, names]) => rejection(told, names)));
  renderMatrix();
}

/** Why presets are rejected; those with the same reasons together. */
function rejections() {
  const found = new Map();
  for (const { name, error } of presets) if (error != null) found.set(error, [...(found.get(error) ?? []), name]);
  return [...found];
}

const FIRST = 3;

/** What is wrong comes first, then where; what is said several times is said once, at all its places. */
function rejection(told, names) {
  const places = new Map();
  for (const line of new Set(told.split('\n'))) {
    const [, place, what] = line.match(/^(.*?:\d+:\d+): (?:error|warning)\[[\w-]+\]: (.*)$/) ?? [null, null, line];
    places.set(what, [...(places.get(what) ?? []), place].filter(Boolean));
  }
  const item = ([what, at]) => make('li', {}, coded(what), at.length > 0 && make('div', { class: 'hint' }, listed(at)));
  const items = [...places].map(item);
  const rest = items.slice(FIRST);
  return make(
    'div',
    { class: 'notice wrong' },
    make('strong', {}, `${listed(names.map((name) => (name === presets[0].name ? 'the variant of the defaults' : name)))} ${names.length === 1 ? 'is' : 'are'} rejected`),
    make('ul', { class: 'reasons' }, items.slice(0, FIRST)),
    rest.length > 0 && make('details', {}, make('summary', {}, `${rest.length} more`), make('ul', { class: 'reasons' }, rest)),
  );
}

function setMatrix(part) {
  Object.assign(matrix, part);
  renderMatrix();
}

function renderMatrix() {
  const hasMine = choices && situation.consistent;
  const columns = presets.map((preset) => make('th', { scope: 'col', title: preset.description }, preset.name, preset.error != null ? badge('failed', 'rejected') : button('YAML', () => saveYaml(presets.indexOf(preset)), { class: 'link save', 'aria-label': `Save the YAML of ${preset.name}` })));
  const head = make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Element'), hasMine && make('th', { scope: 'col', class: 'mine' }, 'yours'), columns));
  const elements = matrixRows();
  matrix.mine = [];
  const body = make('tbody', {}, elements.map(([element, depth]) => matrixRow(element, depth, hasMine)));
  const table = make('table', { class: 'matrix' }, make('caption', { class: 'unseen' }, 'Which elements are present in which preset'), head, !matrix.filter && !matrix.kind && inputRows(hasMine), body);
  byId('matrix-table').replaceChildren(table);
  const all = data.elements.length;
  byId('matrix-note').textContent = `${elements.length.toLocaleString('en')} of ${count(all, 'element')} shown.`;
  renderMine();
}

/** The values of inputs, above the elements. */
function inputRows(hasMine) {
  const names = data.inputs?.length ? data.inputs.map(({ name }) => name) : [...new Set(presets.flatMap((preset) => Object.keys(preset.inputs)))];
  const usual = presets[0]?.inputs ?? {};
  const value = (preset, name) => {
    const text = preset.inputs[name];
    return make('td', { class: text !== usual[name] ? 'value changed' : 'value' }, text == null ? '' : text);
  };
  const differs = (name) => new Set(presets.map((preset) => preset.inputs[name])).size > 1;
  const wanted = names.filter((name) => !matrix.differing || differs(name));
  const row = (name) => make('tr', {}, make('th', { scope: 'row' }, make('span', { class: 'row-name' }, make('span', { class: 'kind' }, 'variability input'), name)), hasMine && mineInput(name), presets.map((preset) => value(preset, name)));
  return make('tbody', { class: 'input-rows' }, wanted.map(row));
}

function mineInput(name) {
  const cell = make('td', { class: 'value mine' });
  const input = data.inputs.findIndex((one) => one.name === name);
  if (input < 0) return cell;
  matrix.mine.push(() => {
    const one = state.decisions.get(input);
    const only = one ?? implied(input);
    cell.textContent = only == null ? '' : one == null ? data.inputs[input].cases[only].label : valueOf(input, one);
  });
  return cell;
}

/** The elements to be listed, each with its depth: what is found, or the tree as far as it is expanded. */
function matrixRows() {
  const differs = (element) => new Set(presets.flatMap((preset, index) => (preset.error == null ? [presence(element, index)] : []))).size > 1;
  const matches = (element) => {
    const { id, kind } = data.elements[element];
    return (!matrix.kind || kind === matrix.kind) && (!matrix.filter || id.toLowerCase().includes(matrix.filter)) && (!matrix.differing || differs(element));
  };
  if (matrix.filter || matrix.kind) return [...children.keys()].filter(matches).map((element) => [element, 0]);
  const found = [];
  const stack = [...children.keys()].filter((element) => data.elements[element].container == null).map((element) => [element, 0]).reverse();
  while (stack.length > 0) {
    const [element, depth] = stack.pop();
    const inside = matrix.open.has(element) ? children[element].map((child) => [child, depth + 1]).reverse() : [];
    if (matches(element) || inside.some(([child]) => matches(child))) found.push([element, depth]);
    stack.push(...inside);
  }
  return found;
}

function matrixRow(element, depth, hasMine) {
  const { id, kind } = data.elements[element];
  const isFound = matrix.filter || matrix.kind;
  const name = isFound && data.elements[element].container != null ? `${ownName(element)} of ${fullName(data.elements[element].container)}` : ownName(element);
  const expandable = !isFound && children[element].length > 0;
  const isOpen = matrix.open.has(element);
  const toggle = () => {
    matrix.open[isOpen ? 'delete' : 'add'](element);
    renderMatrix();
    byId(`fold-${element}`)?.focus();
  };
  const fold = expandable ? button('', toggle, { class: 'fold', id: `fold-${element}`, 'aria-expanded': String(isOpen), 'aria-label': `What ${id} contains` }) : make('span', { class: 'fold' });
  const cell = (index) => {
    const now = presence(element, index);
    return make('td', { class: now }, now === 'unknown' ? '' : mark(now));
  };
  const title = button(name, () => showDetails(element), { class: 'link' });
  return make('tr', {}, make('th', { scope: 'row' }, make('span', { class: 'row-name', style: `padding-inline-start:${depth * 1.4}rem` }, fold, make('span', { class: 'kind' }, kind), title)), hasMine && mineCell(element), [...presets.keys()].map(cell));
}

function mineCell(element) {
  const cell = make('td', { class: 'mine' });
  matrix.mine.push(() => {
    const now = presence(element, -1);
    cell.className = `mine ${now}`;
    cell.replaceChildren(...(now === 'unknown' ? [] : mark(now)));
  });
  return cell;
}

/** Writes the column of what is configured anew. */
function renderMine() {
  matrix.mine.forEach((render) => render());
}

/* ---- The page as a whole ---- */

function buildHead() {
  const nodes = data.elements.filter(({ kind }) => kind === 'node').length;
  const rejected = presets.filter(({ id, error }) => id != null && error != null).length;
  const named = presets.filter(({ id }) => id != null).length;
  const figures = [
    [data.inputs?.length || null, 'input'],
    [named, 'preset'],
    [nodes, 'node'],
    [data.elements.filter(({ kind }) => kind === 'relation').length, 'relation'],
    [data.elements.length, 'element'],
    [rejected || null, 'rejected preset'],
  ];
  byId('description').textContent = data.description ?? '';
  byId('template').append(code(data.template));
  const figure = ([number, one, several]) => make('div', {}, make('dt', {}, number === 1 ? one : (several ?? `${one}s`)), make('dd', {}, number.toLocaleString('en')));
  byId('figures').append(...figures.filter(([number]) => number != null).map(figure));
  byId('made').textContent = `Made by ${data.generator} from ${data.template}. Works offline: it loads nothing and sends nothing.`;
}

const THEMES = ['system', 'light', 'dark'];

function setTheme(theme) {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme;
  fill(byId('theme'), make('span', { class: 'wide' }, 'Theme: '), theme);
  byId('theme').setAttribute('aria-label', `Theme: ${theme}`);
  byId('theme').dataset.theme = theme;
  try {
    localStorage.setItem('cuvee-theme', theme);
  } catch {
    // Where nothing may be kept, the next visit starts anew.
  }
}

function buildTheme() {
  let kept = null;
  try {
    kept = localStorage.getItem('cuvee-theme');
  } catch {
    // As above.
  }
  setTheme(THEMES.includes(kept) ? kept : 'system');
  byId('theme').addEventListener('click', () => setTheme(THEMES[(THEMES.indexOf(byId('theme').dataset.theme) + 1) % THEMES.length]));
}

takeAddress();
buildTheme();
buildHead();
buildConfigurator();
buildDrawing();
buildMatrix();
renderConfigurator();
renderDrawing();
followLinks();
byId('save-yaml').addEventListener('click', () => saveYaml(samePreset(), commandYaml().text));
byId('save').addEventListener('click', () => download(INPUTS_FILE, inputsFile()));
byId('copy').addEventListener('click', copyCommand);
byId('details').addEventListener('click', (event) => event.target === byId('details') && byId('details').close());
addEventListener('keydown', (event) => event.key === 'Escape' && hideTip());
addEventListener('scroll', hideTip, { capture: true, passive: true });
