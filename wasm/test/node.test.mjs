// The package in Node, as it is installed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import * as cuvee from "cuvee";
import { same } from "./same.mjs";

const { CuveeError, open } = cuvee;
const { files, asked } = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8"));
const shopFiles = Object.fromEntries(
  Object.entries(files)
    .filter(([path]) => path.startsWith("examples/shop/"))
    .map(([path, text]) => [path.slice("examples/shop/".length), Buffer.from(text, "base64").toString()]),
);
const SHOP = "variable-service-template.yaml";
const shop = open(shopFiles, SHOP);

test("writes the bytes that the command writes", () => {
  const { held, wrong } = same(cuvee, { files, asked });
  assert.deepEqual(wrong.slice(0, 3), [], `${wrong.length} of ${held} differ`);
  assert.ok(held > 3900, `only ${held} were asked`);
});

test("tells mistakes with their places in units of UTF-16", () => {
  const text = 'tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  Shop: { derived_from: tosca.nodes.Root, properties: { port: { type: integer } } }\ntopology_template:\n  node_templates:\n    "\u{1F375}": { type: Shop, properties: { prot: 80 } }\n';
  const { valid, diagnostics } = open({ "t.yaml": text }, "t.yaml").validate();
  assert.equal(valid, false);
  const { code, path, range, fix, help } = diagnostics.find((it) => it.code === "unknown-property");
  const line = text.split("\n")[range.start.line];
  assert.deepEqual([code, path, line.slice(range.start.character, range.end.character)], ["unknown-property", "t.yaml", "prot"]);
  assert.deepEqual([fix.replacement, fix.range, help], ["port", range, "did you mean `port`?"]);
});

test("throws what is wrong with a choice", () => {
  const wrong = (ask, code, message) =>
    assert.throws(ask, (error) => {
      assert.ok(error instanceof CuveeError, String(error));
      assert.equal(error.name, "CuveeError");
      assert.deepEqual(error.diagnostics.map((it) => it.code).slice(0, 1), [code]);
      assert.match(error.message, message);
      return true;
    });
  wrong(() => shop.resolve({ presets: "prd" }), "unknown-preset", /unknown preset `prd`|`prd`/);
  wrong(() => shop.explain("node.nobody"), "unknown-element", /node\.nobody/);
  // No zone, a zone that has another offset then, an hour that it leaves out, and a day that no month has.
  for (const now of ["noon", "2026-12-24[No/Where]", "2026-12-24T18:00+02:00[Europe/Berlin]", "2026-03-29T02:30+01:00[Europe/Berlin]", "2026-02-30[Europe/Berlin]"]) {
    wrong(() => shop.resolve({ now }), "usage", /`now` is no time/);
  }
  wrong(() => open({}, "none.yaml").resolve(), "file", /none\.yaml/);
  wrong(() => open({ "t.yaml": new Uint8Array([0xff, 0xfe, 0xfd]) }, "t.yaml").resolve(), "syntax", /t\.yaml/);
});

test("leaves definitions of TOSCA 1.0 to the command", () => {
  const definitions = '<Definitions xmlns="http://docs.oasis-open.org/tosca/ns/2011/12" id="kiosk" targetNamespace="urn:kiosk"/>';
  const { valid, diagnostics } = open({ "kiosk.tosca": definitions }, "kiosk.tosca").validate();
  assert.deepEqual([valid, diagnostics.map((it) => it.code)], [false, ["unsupported-version"]]);
  assert.match(diagnostics[0].help, /`cuvee validate` reads it/);
});

test("rejects wrong arguments", () => {
  const wrong = (ask, message) => assert.throws(ask, (error) => error instanceof TypeError && message.test(error.message));
  wrong(() => open({ "t.yaml": 3 }, "t.yaml"), /`t.yaml` has to be a string/);
  wrong(() => open({}, 3), /`template` has to be a string, not number/);
  wrong(() => open([], "t.yaml"), /`files` has to be an object/);
  wrong(() => shop.resolve({ preset: "prod" }), /knows no `preset`; it takes presets/);
  wrong(() => shop.resolve({ presets: [1] }), /`presets\[0\]`/);
  wrong(() => shop.resolve({ inputs: { visitors: undefined } }), /`inputs.visitors` is undefined/);
  wrong(() => shop.resolve({ inputs: { visitors: { a: NaN } } }), /`inputs.visitors.a` is NaN/);
  wrong(() => shop.variants({ limit: -1 }), /`limit`/);
  wrong(() => shop.variants({ minimize: 3 }), /`minimize` has to be a string, not number/);
  // The words of the library, which Python has, too.
  wrong(() => shop.variants({ minimize: "price" }), /^`minimize` is `weight`, `count` or `technologies`, not `price`$/);
  wrong(() => shop.count({ projection: "some" }), /^`projection` is `all` or `nodes`, not `some`$/);
  wrong(() => shop.variants({ limit: 0 }), /^`limit` is 1 or more, not 0$/);
  wrong(() => shop.variants({ twise: 7 }), /^combinations of 1 to 6 inputs can be covered, not of 7$/);
  wrong(() => shop.variants({ twise: 2, sample: 3 }), /^only one of these can be chosen: a sample, covered combinations$/);
  wrong(() => shop.graph({ format: "png" }), /`format` has to be one of "svg"/);
  wrong(() => shop.document("plan"), /no command `plan`/);
  wrong(() => shop.document("explain"), /`element` has to be a string/);
  wrong(() => shop.explain(), /`element` has to be a string/);
  wrong(() => shop.complete(SHOP, { line: 1 }), /`character`/);
});

test("takes inputs as values", () => {
  const presence = shop.resolve({ presets: "prod", inputs: { visitors: 4000n } }).presence;
  assert.deepEqual(presence, shop.resolve({ presets: ["prod"], inputs: new Map([["visitors", 4000]]) }).presence);
  const text = "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability: { inputs: { name: { type: string } }, options: { mode: semantic-loose } }\n  node_templates:\n    a: { type: Shop, conditions: { equal: [{ variability_input: name }, '1.10'] } }\n    b: { type: Shop }\n";
  const versions = open({ "t.yaml": text }, "t.yaml");
  assert.equal(versions.resolve({ inputs: { name: "1.10" } }).presence["node.a"], true);
  assert.equal(versions.resolve({ inputs: { name: "1.1" } }).presence["node.a"], false);
  const clock = open({ "t.yaml": text.replace("{ equal: [{ variability_input: name }, '1.10'] }", "{ equal: [{ weekday: [] }, saturday] }") }, "t.yaml");
  const there = (now) => clock.resolve({ inputs: { name: "" }, now }).presence["node.a"];
  assert.deepEqual([there("2026-11-28"), there(new Date("2026-11-27"))], [true, false]);
});

test("answers what editors ask", () => {
  const text = shopFiles[SHOP];
  const line = text.split("\n").findIndex((it) => /^\s+type: shop\.nodes\./.test(it));
  const character = text.split("\n")[line].indexOf("type: ") + "type: ".length;
  const { suggestions } = shop.complete(SHOP, { line, character });
  assert.ok(suggestions.some((it) => it.kind === "type" && it.label === "tosca.nodes.Root"), JSON.stringify(suggestions.slice(0, 5)));
  assert.match(shop.hover(SHOP, { line, character }).markdown, /\w/);
  assert.equal(shop.complete("elsewhere.yaml", { line: 0, character: 0 }), null);
  assert.deepEqual(shop.names().presets.map((it) => it.name).slice(0, 2), ["dev", "prod"]);
  // What is broken where somebody types does not hide what is wrong elsewhere.
  const broken = open({ ...shopFiles, [SHOP]: text.replace("type: ", "type: Nobody # ") + "\n  cache: { type: " }, SHOP);
  const codes = (validation) => new Set(validation.diagnostics.map((it) => it.code));
  const near = { path: SHOP, position: { line: text.split("\n").length, character: 17 } };
  assert.deepEqual([...codes(broken.validate())], ["syntax"]);
  assert.ok(codes(broken.validate({ near })).has("unknown-type"));
});

test("makes the module anew after it crashed, and says so", async () => {
  const bindings = await import(new URL("bindings.js", import.meta.resolve("cuvee")).href);
  const before = shop.count();
  // All memory that a module may have, so that there is none left for an answer.
  const { memory } = bindings.initSync();
  assert.throws(
    () => {
      for (let pages = 65536; pages >= 1; pages = Math.floor(pages / 2)) {
        try {
          while (true) memory.grow(pages);
        } catch {
          // That many are not left.
        }
      }
      const long = "#".repeat(1 << 20);
      const many = Array.from({ length: 64 }, (_, index) => [`${index}.yaml`, long]);
      open(new Map(many), "0.yaml").resolve();
    },
    (error) => error instanceof CuveeError && error.crashed && /the module was made anew/.test(error.message) && error.cause !== undefined,
  );
  assert.deepEqual(shop.count(), before);
  assert.deepEqual(open(shopFiles, SHOP).count(), before);
});

test("frees its memory", () => {
  const template = open(shopFiles, SHOP);
  template.resolve({ presets: "dev" });
  template.free();
  template.free();
  assert.throws(() => template.resolve(), /this template was freed/);
});

test("runs in a worker", async () => {
  const code = `
    import { parentPort, workerData } from "node:worker_threads";
    import { open } from "cuvee";
    parentPort.postMessage(open(workerData, ${JSON.stringify(SHOP)}).resolve({ presets: "dev" }).yaml);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code.replace('"cuvee"', JSON.stringify(import.meta.resolve("cuvee"))))}`), { workerData: shopFiles });
  const yaml = await new Promise((done, failed) => worker.once("message", done).once("error", failed));
  assert.equal(yaml, shop.resolve({ presets: "dev" }).yaml);
});
