// Holds what the module writes to what the command wrote: `same(cuvee, cases)` gives what differs. Runs in Node and in browsers.

/** A system says in its own words that a file is not there, and so does a map of files. */
const reworded = (text) => text.replaceAll("No such file or directory", "no such file");

/** What a message says, as far as both the command and the module say it. */
function told(message) {
  const { severity, code, help, section = null, labels } = message;
  const text = reworded(message.message);
  const place = message.range === undefined ? [message.file, message.line] : [message.path, message.range && message.range.start.line + 1];
  const rule = message.rule === undefined ? section : (message.rule?.match(/^section (\S+)/)?.[1] ?? null);
  return JSON.stringify({ severity, code, text, help, rule, place, labels: labels.map((it) => it.message) });
}

function decoded(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  // Whatever is text is handed on as text, as most callers do.
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

/** Asks what the command was asked: what it writes, and what it says beside that. */
function answer({ CuveeError }, template, { question, choice }) {
  try {
    if (question === "resolve") {
      const { yaml, warnings } = template.resolve(choice);
      return { ok: true, output: yaml, messages: warnings };
    }
    if (question === "graph" && choice.format !== undefined) return { ok: true, output: template.graph(choice) };
    return { ok: true, output: template.document(question === "resolve-json" ? "resolve" : question, choice) };
  } catch (error) {
    if (!(error instanceof CuveeError) || error.crashed) throw error;
    return { ok: false, output: "", messages: error.diagnostics };
  }
}

export function same(cuvee, { files, asked }) {
  const all = new Map(Object.entries(files).map(([path, text]) => [path, decoded(text)]));
  const wrong = [];
  let [held, open, opened] = [0, undefined, undefined];
  for (const one of asked) {
    if (opened !== `${one.name} ${one.template}`) {
      open?.free();
      const near = [...all].filter(([path]) => one.roots.some((root) => path.startsWith(`${root}/`)));
      [open, opened] = [cuvee.open(new Map(near), one.template), `${one.name} ${one.template}`];
    }
    let found;
    try {
      found = answer(cuvee, open, one);
    } catch (error) {
      found = { ok: false, output: String(error.stack), messages: [] };
    }
    const says = ({ output, messages }) => JSON.stringify([reworded(output), one.question === "resolve" ? messages.map(told) : []]);
    // `validate` and `types` also fail where they write what they found.
    if (says(found) !== says(one)) wrong.push({ name: one.name, question: one.question, choice: one.choice, expected: says(one), found: says(found) });
    held += 1;
  }
  open?.free();
  return { held, wrong };
}
