// Whatever the built pages name is there, and each code of a message has an address.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

const folder = process.env.SITE ?? new URL("../../target/site", import.meta.url).pathname;
const BASE = "/cuvee/";
const pages = readdirSync(folder).filter((name) => name.endsWith(".html"));
const text = (path) => readFileSync(join(folder, path), "utf8");
const ids = new Map(pages.map((page) => [page, new Set([...text(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]));
const plain = (value) => decodeURIComponent(value.replaceAll("&amp;", "&"));

test("links lead somewhere", () => {
  const dead = [];
  let count = 0;
  for (const page of pages) {
    for (const [, value] of text(page).matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^(https?:|data:|mailto:)/.test(value)) continue;
      count += 1;
      const [path, anchor] = plain(value).split("#");
      const isOutside = path.startsWith("/") && !path.startsWith(BASE);
      const file = path === "" ? page : path.startsWith(BASE) ? path.slice(BASE.length) || "index.html" : join(dirname(page), path);
      const isThere = existsSync(join(folder, file)) && (statSync(join(folder, file)).isFile() || existsSync(join(folder, file, "index.html")));
      const isAnchor = !anchor || /^(example|p)=/.test(anchor) || !ids.has(file) || ids.get(file).has(anchor);
      if (isOutside || !isThere || !isAnchor) dead.push(`${page}: ${value}`);
    }
  }
  assert.deepEqual(dead, []);
  assert.ok(count > 1000, `only ${count} links`);
});

test("the site has what the repository has, and nothing that was installed there", () => {
  const names = readdirSync(folder, { recursive: true });
  assert.ok(names.includes(join("files", "editors", "vscode", "package.json")));
  assert.deepEqual(names.filter((name) => name.split(/[/\\]/).includes("node_modules")), []);
});

test("each code has an address", () => {
  const codes = [...readFileSync(new URL("../../docs/codes.md", import.meta.url), "utf8").matchAll(/^## `([\w-]+)`$/gm)].map(([, code]) => code);
  assert.ok(codes.length > 50);
  assert.deepEqual(codes.filter((code) => !ids.get("codes.html").has(code)), []);
});

test("all pages of the documentation are there, and in the list of pages", () => {
  const start = text("start.html");
  for (const name of readdirSync(new URL("../../docs", import.meta.url)).filter((it) => it.endsWith(".md"))) {
    const page = name.replace(/\.md$/, ".html");
    assert.ok(pages.includes(page), page);
    assert.ok(start.includes(`href="${BASE}${page}"`), `no page leads to ${page}`);
  }
});

test("pages run nothing but what the site has", () => {
  for (const page of pages) {
    assert.match(text(page), /<meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src 'self' 'wasm-unsafe-eval'/);
    for (const [, address] of text(page).matchAll(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?:[^"]*)"/g)) assert.fail(`${page} loads ${address}`);
  }
});
