// Asks cuvee, away from the page: typing never waits for an answer. A run answers part by part, and ends early when a newer one has come.

let newest = 0;
let opened;

/** The package, once somebody asks: the editor comes first. */
const loading = import("cuvee");
loading.catch((error) => postMessage({ fatal: String(error?.message ?? error) }));

async function template({ files, template }) {
  const cuvee = await loading;
  const key = JSON.stringify([files, template]);
  if (opened?.key !== key) {
    opened?.template.free();
    opened = { key, template: cuvee.open(files, template) };
  }
  return opened.template;
}

/** An answer, or what is wrong; what is no mistake of the reader is said as it is. */
function tried(ask) {
  try {
    return { answer: ask() };
  } catch (error) {
    return { message: error.message, diagnostics: error.diagnostics ?? [], crashed: error.crashed ?? !error.diagnostics };
  }
}

const EFFORT = 3_000_000;

/** The parts of a run, those that are wanted first at the beginning. */
const PARTS = {
  variant: (it, { choice }) => it.resolve(choice),
  names: (it) => it.names(),
  inputs: (it) => it.inputs(),
  count: (it, { choice }) => it.count({ ...choice, effort: EFFORT }),
  validation: (it, { near }) => it.validate({ near }),
  why: (it, { choice, element }) => (element ? it.explain(element, choice) : null),
  graph: (it) => it.graph(),
};

/** Lets messages in that have come meanwhile. */
const pause = () => new Promise((done) => setTimeout(done));

async function run(request) {
  newest = request.id;
  for (const [part, ask] of Object.entries(PARTS)) {
    if (newest !== request.id) return;
    const it = await template(request);
    postMessage({ id: request.id, part, ...tried(() => ask(it, request)) });
    await pause();
  }
  if (newest === request.id) postMessage({ id: request.id, part: "end" });
}

async function ask(request) {
  const it = await template(request);
  const { path, position } = request;
  const question = request.ask === "complete" ? () => it.complete(path, position) : () => it.hover(path, position);
  postMessage({ id: request.id, reply: true, ...tried(question) });
}

onmessage = ({ data }) => (data.ask === "run" ? run(data) : ask(data));
