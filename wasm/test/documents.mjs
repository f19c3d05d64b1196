// Documents of the command as constants of the types that the package says they have: `node documents.mjs CASES`. TypeScript refuses constants that lack a key, and
// those that have one too many.

import { readFileSync } from "node:fs";

const TYPES = { variants: "Variants", count: "Count", explain: "Explanation", inputs: "Inputs", matrix: "Matrix", diff: "Diff", graph: "Graph" };
const { asked } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const lines = ['import type { Count, Diff, Explanation, Graph, Inputs, Matrix, Types, TypesOfName, Variants } from "cuvee";'];
const kept = new Map();
for (const { question, choice, output } of asked) {
  if (!(question === "types" || TYPES[question]) || !output.startsWith("{") || choice.format !== undefined) continue;
  const document = JSON.parse(output);
  const ofTypes = document.definitions ? "TypesOfName" : "Types";
  const type = question === "types" ? ofTypes : TYPES[question];
  // A few of each are enough, and do not keep the compiler for long.
  const count = kept.get(type) ?? 0;
  if (count >= 6) continue;
  kept.set(type, count + 1);
  lines.push(`export const document${lines.length}: ${type} = ${output.trim()};`);
}
console.log(lines.join("\n"));
const missing = ["Count", "Diff", "Explanation", "Graph", "Inputs", "Matrix", "Types", "TypesOfName", "Variants"].filter((type) => !kept.has(type));
if (missing.length > 0) throw new Error(`no document is of ${missing.join(", ")}`);
