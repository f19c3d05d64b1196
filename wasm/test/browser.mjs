// The bundled page in Chromium: `node browser.mjs FOLDER CASES`. Its worker is asked all cases, and has to write the bytes that the command writes.

import assert from "node:assert/strict";
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, cases] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${process.env.PLAYWRIGHT}/index.mjs`).href);
const types = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };
const server = createServer((request, response) => {
  const path = normalize(new URL(request.url, "http://localhost").pathname);
  const file = path === "/cases.json" ? cases : join(folder, path === "/" ? "index.html" : path);
  if (!existsSync(file)) return response.writeHead(404).end();
  // Once with the type of modules, once as hosts that do not know it serve them.
  const type = request.headers["user-agent"].includes("plain") && extname(file) === ".wasm" ? "application/octet-stream" : types[extname(file)];
  response.writeHead(200, { "Content-Type": type });
  return createReadStream(file).pipe(response);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

const page = await browser.newPage();
const trouble = [];
page.on("console", (message) => message.type() !== "log" && trouble.push(message.text()));
page.on("pageerror", (error) => trouble.push(error.message));
await page.goto(address);
const { held, wrong } = await page.evaluate(() => window.ask("/cases.json"));
assert.deepEqual(wrong.slice(0, 3), [], `${wrong.length} of ${held} differ`);
assert.ok(held > 3900, `only ${held} were asked`);

const text = "tosca_definitions_version: tosca_simple_yaml_1_3\ndescription: tea\n";
const plain = await browser.newPage({ userAgent: "plain" });
await plain.goto(address);
for (const one of [page, plain]) assert.equal(await one.evaluate((text) => window.open_({ "t.yaml": text }, "t.yaml"), text), text);
// The icon of the site is none of the page's.
assert.deepEqual(trouble.filter((it) => !/404/.test(it)), []);
await browser.close();
server.close();
console.log(`wasm: ${held} answers in Chromium are as the command writes them`);
