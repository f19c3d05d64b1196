// Keeps the site for readers without a network: after one visit, all of it is there.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

export function writeServiceWorker(outDir) {
  const entries = readdirSync(outDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => relative(outDir, join(entry.parentPath, entry.name))).filter((path) => !/^(sw\.js|hashmap\.json)$/.test(path)).sort();
  const digest = createHash("sha256");
  for (const path of paths) digest.update(path).update(readFileSync(join(outDir, path)));
  const version = digest.digest("hex").slice(0, 16);
  const worker = readFileSync(new URL("../sw.js", import.meta.url), "utf8");
  writeFileSync(join(outDir, "sw.js"), worker.replace('"VERSION"', JSON.stringify(version)).replace('["PATHS"]', JSON.stringify(paths)));
}
