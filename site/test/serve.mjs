// Serves a folder below a path, as any host of static files does.

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm", ".json": "application/json" };

/** The server, with its address; it notes what it was asked for. */
export async function serve(folder, base = "/") {
  const asked = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    asked.push(request.url);
    const file = path.startsWith(base) ? join(folder, normalize(`/${path.slice(base.length)}`)) : folder;
    const found = [file, join(file, "index.html")].find((it) => existsSync(it) && statSync(it).isFile());
    if (!found || !path.startsWith(base)) {
      response.writeHead(404).end("not found");
      return;
    }
    response.writeHead(200, { "Content-Type": TYPES[extname(found)] ?? "text/plain; charset=utf-8" });
    createReadStream(found).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { origin: `http://127.0.0.1:${server.address().port}`, address: `http://127.0.0.1:${server.address().port}${base}`, asked, close: () => new Promise((done) => { server.close(done); server.closeAllConnections(); }) };
}
