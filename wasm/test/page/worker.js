import { same } from "../same.mjs";

// What is sent while the module is still loading is not lost, since it is loaded when the first message is there.
onmessage = async ({ data }) => {
  const cuvee = await import("cuvee");
  postMessage(same(cuvee, await (await fetch(data)).json()));
};
