import { readFile } from "node:fs/promises";

export async function compile() {
  return WebAssembly.compile(await readFile(new URL("./bindings_bg.wasm", import.meta.url)));
}
