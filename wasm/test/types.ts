// What the types allow, and what they do not: checked, and never run.

import { CuveeError, Template, open, type Difference, type Graph, type TypesOfName, type Variants } from "cuvee";

const shop: Template = open({ "shop.yaml": "", "logo.png": new Uint8Array() }, "shop.yaml");
const same: Template = open(new Map([["shop.yaml", ""]]), "shop.yaml");

const { yaml, presence, proven, warnings } = shop.resolve({ presets: ["prod"], inputs: { visitors: 4000n, tags: ["a", null] }, options: { checks: false }, now: new Date() });
const text: string = yaml;
const isThere: boolean | undefined = presence["node.shop"];
const isBest: boolean = proven;
const line: number | undefined = warnings[0]?.range?.start.line;

const found: Variants = shop.variants({ limit: 3, projection: "nodes", where: "{node_presence: cache}" });
const drawing: string = shop.graph({ format: "mermaid" });
const nodes: Graph["nodes"] = shop.graph({ format: "json", presets: "prod" }).nodes;
const diff: Difference[] = shop.diff("dev", ["prod", "sale"]).changes;
const types: TypesOfName = shop.types("tosca.nodes.Compute", { nonNormative: true });
const document: string = shop.document("explain", { element: "node.shop" }) + shop.document("count");

function lookAt(error: unknown): string | undefined {
  if (!(error instanceof CuveeError)) throw error;
  const fix = error.diagnostics.find((it) => it.severity === "error")?.fix;
  return error.crashed ? undefined : fix?.replacement;
}

for (const change of diff) {
  // @ts-expect-error only what was removed or changed has a value before
  change.from;
  if (change.kind === "changed") change.from;
}

// @ts-expect-error the template is named
open({});
// @ts-expect-error files are texts or bytes
open({ "shop.yaml": 3 }, "shop.yaml");
// @ts-expect-error templates are opened
new Template();
// @ts-expect-error there is no such key
shop.resolve({ preset: "prod" });
// @ts-expect-error functions are no values
shop.resolve({ inputs: { visitors: () => 3 } });
// @ts-expect-error there is no such format
shop.graph({ format: "png" });
// @ts-expect-error an element is named
shop.document("explain");
// @ts-expect-error there is no such command
shop.document("plan");
// @ts-expect-error places have columns
shop.complete("shop.yaml", { line: 1 });
// @ts-expect-error counts are texts
const count: number = shop.count().count;

export { count, document, drawing, found, isBest, isThere, line, lookAt, nodes, same, text, types };
