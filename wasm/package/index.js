import { compile } from "#module";
import { Session, __wbg_reset_state as makeAnew, initSync } from "./bindings.js";
import { withOffset } from "./zones.js";

initSync({ module: await compile() });

/** How often the module was made. A session belongs to the module that it was made by. */
let made = 0;

/** What is wrong with a template, a choice or an input. */
export class CuveeError extends Error {
  /**
   * @param {string} message
   * @param {object[]} diagnostics
   * @param {{ cause?: unknown, crashed?: boolean }} more
   */
  constructor(message, diagnostics, { cause, crashed = false } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "CuveeError";
    this.diagnostics = diagnostics;
    this.crashed = crashed;
  }
}

/** What may be chosen, each with the way in which it is handed on. */
const CHOICE = {
  presets: (names) => texts("presets", typeof names === "string" ? [names] : names),
  inputs: (values) => entries("inputs", values).map(([name, value]) => [name, json(`inputs.${name}`, value)]),
  inputFiles: (paths) => texts("inputFiles", typeof paths === "string" ? [paths] : paths),
  options: (values) =>
    entries("options", values).map(([name, value]) => [name, typeof value === "string" ? value : json(`options.${name}`, value)]),
  now: (time) => (time instanceof Date ? time.toISOString() : withOffset(text("now", time))),
};

/** What questions take beside that. */
const flag = (name) => (value) => {
  if (typeof value !== "boolean") throw new TypeError(`\`${name}\` has to be a boolean`);
  return value;
};
const number = (name) => (value) => {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`\`${name}\` has to be a whole number that is not negative`);
  return value;
};
const one = (name, words) => (value) => {
  if (!words.includes(value)) throw new TypeError(`\`${name}\` has to be one of ${words.map((it) => `"${it}"`).join(", ")}`);
  return value;
};
const WHERE = { where: (conditions) => texts("where", typeof conditions === "string" ? [conditions] : conditions) };
const VARIANTS = { ...WHERE, projection: (name) => text("projection", name), effort: number("effort") };
const TAKES = {
  resolve: {},
  validate: { nonNormative: flag("nonNormative"), portable: flag("portable"), near: (near) => near },
  variants: {
    ...VARIANTS,
    limit: number("limit"),
    sample: number("sample"),
    seed: number("seed"),
    twise: number("twise"),
    minimize: (goal) => text("minimize", goal),
    allPresets: flag("allPresets"),
  },
  count: VARIANTS,
  explain: { element: (name) => text("element", name) },
  inputs: {},
  matrix: { elements: one("elements", ["nodes", "all"]) },
  types: { name: (name) => text("name", name), nonNormative: flag("nonNormative") },
  diff: { from: (names) => side("from", names), to: (names) => side("to", names) },
  graph: {
    format: one("format", ["svg", "mermaid", "dot", "json"]),
    presentOnly: flag("presentOnly"),
    from: (names) => side("from", names),
    to: (names) => side("to", names),
  },
};

function text(name, value) {
  if (typeof value !== "string") throw new TypeError(`\`${name}\` has to be a string, not ${value === null ? "null" : typeof value}`);
  return value;
}

function texts(name, values) {
  if (!Array.isArray(values)) throw new TypeError(`\`${name}\` has to be a list of strings`);
  return values.map((value, index) => text(`${name}[${index}]`, value));
}

function side(name, presets) {
  return texts(name, typeof presets === "string" ? [presets] : presets).join(",");
}

function entries(name, values) {
  if (values instanceof Map) return [...values].map(([key, value]) => [text(`a key of ${name}`, key), value]);
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new TypeError(`\`${name}\` has to be an object with a value for each name`);
  }
  return Object.entries(values);
}

/** A value as JSON, in which nothing is silently lost. */
function json(name, value) {
  const kept = (key, part) => {
    const isLost = part === undefined || typeof part === "function" || typeof part === "symbol" || (typeof part === "number" && !Number.isFinite(part));
    if (isLost) throw new TypeError(`\`${key === "" ? name : `${name}.${key}`}\` is ${String(part)}, for which YAML has no value here`);
    return part;
  };
  return typeof value === "bigint" ? String(value) : JSON.stringify(value, kept);
}

/** What is given, checked; keys that nobody looks at are mistakes. */
function checked(question, given) {
  if (typeof given !== "object" || given === null) throw new TypeError("what is chosen has to be an object");
  const known = { ...CHOICE, ...TAKES[question] };
  const found = {};
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(known, key)) throw new TypeError(`\`${question}\` knows no \`${key}\`; it takes ${Object.keys(known).join(", ")}`);
    if (value !== undefined) found[key] = known[key](value);
  }
  if (question === "explain") text("element", found.element);
  const { elements = "nodes", near, ...rest } = found;
  const place = near === undefined ? {} : placed(near.path, near.position);
  return { ...rest, ...place, nodesOnly: question === "matrix" && elements === "nodes" };
}

function placed(path, position) {
  const { line, character } = position ?? {};
  return { path: text("path", path), position: { line: number("line")(line), character: number("character")(character) } };
}

/** The names by which the module knows the documents that commands write. */
const DOCUMENTS = { resolve: "resolved", validate: "findings" };

/** A template and the files around it. */
export class Template {
  #template;
  #files;
  #session;
  #made;
  #isFree = false;

  constructor(files, template) {
    this.#files = entries("files", files).map(([path, content]) => {
      if (typeof content !== "string" && !(content instanceof Uint8Array)) {
        throw new TypeError(`the file \`${path}\` has to be a string or a Uint8Array`);
      }
      return [path, content];
    });
    this.#template = text("template", template);
  }

  /** The module's side of it, which is made again after the module was. */
  #open() {
    if (this.#session === undefined || this.#made !== made) {
      const encoder = new TextEncoder();
      this.#session = new Session(this.#template);
      this.#made = made;
      for (const [path, content] of this.#files) {
        this.#session.add(path, typeof content === "string" ? encoder.encode(content) : content);
      }
    }
    return this.#session;
  }

  #ask(question) {
    const asked = JSON.stringify(question);
    if (this.#isFree) throw new TypeError("this template was freed");
    try {
      return this.#open().ask(asked);
    } catch (thrown) {
      if (typeof thrown === "string") {
        const { message, diagnostics } = JSON.parse(thrown);
        throw diagnostics.length === 0 ? new TypeError(message) : new CuveeError(message, diagnostics);
      }
      made += 1;
      makeAnew();
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      throw new CuveeError(`cuvee crashed (${why}); the module was made anew, and the next question starts afresh`, [], {
        cause: thrown,
        crashed: true,
      });
    }
  }

  #answer(question, given) {
    return JSON.parse(this.document(question, given));
  }

  document(question, choice = {}) {
    if (!Object.hasOwn(TAKES, question)) {
      throw new TypeError(`no command \`${String(question)}\` has a document here; known are ${Object.keys(TAKES).join(", ")}`);
    }
    const format = question === "graph" ? { format: "json" } : {};
    return this.#ask({ ...checked(question, choice), ...format, ask: DOCUMENTS[question] ?? question });
  }

  resolve(choice = {}) {
    const { presence, ...rest } = JSON.parse(this.#ask({ ...checked("resolve", choice), ask: "resolve" }));
    return { ...rest, presence: Object.fromEntries(presence) };
  }

  validate(choice = {}) {
    return JSON.parse(this.#ask({ ...checked("validate", choice), ask: "validate" }));
  }

  variants(choice = {}) {
    return this.#answer("variants", choice);
  }

  count(choice = {}) {
    return this.#answer("count", choice);
  }

  explain(element, choice = {}) {
    return this.#answer("explain", { ...choice, element });
  }

  inputs(choice = {}) {
    return this.#answer("inputs", choice);
  }

  matrix(choice = {}) {
    return this.#answer("matrix", choice);
  }

  types(name, choice = {}) {
    return this.#answer("types", { ...choice, name });
  }

  diff(from, to, choice = {}) {
    return this.#answer("diff", { ...choice, from, to });
  }

  graph(choice = {}) {
    const { format = "svg", ...rest } = choice;
    const answer = this.#ask({ ...checked("graph", { ...rest, format }), ask: "graph" });
    return format === "json" ? JSON.parse(answer) : answer;
  }

  names() {
    return JSON.parse(this.#ask({ ask: "names" }));
  }

  complete(path, position) {
    return JSON.parse(this.#ask({ ...placed(path, position), ask: "complete" }));
  }

  hover(path, position) {
    return JSON.parse(this.#ask({ ...placed(path, position), ask: "hover" }));
  }

  free() {
    if (this.#session !== undefined && this.#made === made) this.#session.free();
    this.#session = undefined;
    this.#files = [];
    this.#isFree = true;
  }

  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.free();
  }
}

export function open(files, template) {
  return new Template(files, template);
}
