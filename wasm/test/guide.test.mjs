// The page about the package: each of its blocks runs, and prints what stands behind the arrows.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

const page = readFileSync(new URL("guide.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, block]) => block);

test("blocks print what they show", () => {
  assert.ok(blocks.length >= 3);
  for (const [index, block] of blocks.entries()) {
    const file = new URL(`guide-${index}.mjs`, import.meta.url);
    writeFileSync(file, block);
    const printed = execFileSync(process.execPath, [file.pathname], { cwd: process.env.REPOSITORY, encoding: "utf8" });
    const shown = [...block.matchAll(/ \/\/ → (.*)$/gm)].map(([, line]) => `${line}\n`).join("");
    assert.equal(printed, shown);
  }
});

test("the package has the methods that the page names, and no others", async () => {
  const { Template } = await import("cuvee");
  const named = [...page.matchAll(/`(\w+)\([\w, ]*\)`/g)].map(([, name]) => name);
  const there = Object.getOwnPropertyNames(Template.prototype).filter((name) => !["constructor", "document"].includes(name));
  assert.deepEqual([...new Set(named)].sort(), there.sort());
});
