// The page's side of the worker: the newest run wins, and a run that takes too long is ended when there is a newer one.

const PATIENCE = 4000;

export class Client {
  #worker;
  #id = 0;
  #replies = new Map();
  #since = 0;
  #asked = 0;
  #isBusy = false;
  #told;

  /** Calls `told` with each part of the newest run. */
  constructor(told) {
    this.#told = told;
    this.#start();
  }

  #start() {
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      if (data.reply) {
        this.#replies.get(data.id)?.(data.answer ?? null);
        this.#replies.delete(data.id);
      } else if (data.fatal !== undefined) {
        this.#told({ part: "fatal", message: data.fatal });
      } else if (data.id === this.#id) {
        if (data.part === "end") this.#isBusy = false;
        this.#told(data);
      }
    };
    this.#worker.onerror = (event) => this.#told({ part: "fatal", message: event.message ?? "the worker did not start" });
  }

  run(request) {
    if (this.#isBusy && performance.now() - this.#since > PATIENCE) {
      this.#worker.terminate();
      for (const reply of this.#replies.values()) reply(null);
      this.#replies.clear();
      this.#start();
      this.#isBusy = false;
    }
    if (!this.#isBusy) this.#since = performance.now();
    this.#isBusy = true;
    this.#id += 1;
    this.#worker.postMessage({ ...request, ask: "run", id: this.#id });
  }

  /** The answer to what the editor asks about a place. */
  ask(ask, request) {
    const id = `${ask} ${(this.#asked += 1)}`;
    return new Promise((done) => {
      this.#replies.set(id, done);
      this.#worker.postMessage({ ...request, ask, id });
    });
  }

  end() {
    this.#worker.terminate();
  }
}
