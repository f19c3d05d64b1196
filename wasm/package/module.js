// Where browsers find the module; bundlers know this way of naming a file.
const address = new URL("./bindings_bg.wasm", import.meta.url);

export async function compile() {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`cannot load ${address}: ${response.status} ${response.statusText}`);
  // A server that calls the file something else than `application/wasm` cannot stream it.
  return response.headers.get("Content-Type")?.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}
