// A page that asks a worker, as a bundler makes it.

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });

window.ask = (cases) =>
  new Promise((done, failed) => {
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = (event) => failed(new Error(event.message));
    worker.postMessage(cases);
  });

// The module also loads in the page itself.
window.open_ = async (files, template) => (await import("cuvee")).open(files, template).resolve().yaml;
