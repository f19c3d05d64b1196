// What the command writes for all cases of `tests/conformance` and for the examples with their tests, as one text of JSON on standard output:
// `node cases.mjs CUVEE`. Whoever speaks through the module has to write the same bytes.

import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { availableParallelism } from "node:os";
import { parse } from "yaml";

const cuvee = resolve(process.argv[2]);
process.chdir(join(import.meta.dirname, "../.."));
const TEMPLATES = ["variable-service-template.yaml", "service-template.yaml", "template.yaml", "vst.yaml"];
const list = (value) => (value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)]);

/** What stands below a directory. */
const below = (top) =>
  readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("/target/"));

const templateIn = (directory) => TEMPLATES.map((name) => join(directory, name)).find(existsSync);

/** A case of `cuvee test`: its template, and what it chooses. */
function caseOf(directory) {
  const owner = dirname(directory).endsWith("/tests") ? dirname(dirname(directory)) : directory;
  const home = templateIn(owner) ? owner : directory;
  // A time stays a text.
  const settings = parse(readFileSync(join(directory, "test.yaml"), "utf8"), { schema: "failsafe" }) || {};
  const inputs = list(settings.inputs).map((path) => join(directory, path));
  const usual = ["inputs.yaml", "inputs.xml"].map((name) => join(directory, name)).find(existsSync);
  const template = settings.template === undefined ? templateIn(home) : join(home, settings.template);
  // Some name files beside their own directory.
  const isWide = existsSync(template) && statSync(template).isFile() && readFileSync(template, "utf8").includes("../");
  return {
    name: directory,
    template,
    roots: [directory, home, dirname(template), ...(isWide ? [dirname(home)] : [])],
    choice: {
      presets: list(settings.presets),
      inputFiles: inputs.length > 0 || !usual ? inputs : [usual],
      options: settings.options ?? {},
      ...(settings.now === undefined ? {} : { now: settings.now }),
    },
  };
}

const flags = ({ presets = [], inputFiles = [], inputs = {}, options = {}, now }) => [
  ...presets.flatMap((name) => ["--preset", name]),
  ...inputFiles.flatMap((path) => ["--inputs", path]),
  ...Object.entries(inputs).flatMap(([name, value]) => ["--input", `${name}=${JSON.stringify(value)}`]),
  ...Object.entries(options).flatMap(([name, value]) => ["--option", `${name}=${value}`]),
  ...(now === undefined ? [] : ["--now", now]),
];

/** What a command writes. */
const run = (words) =>
  new Promise((done) => {
    const settings = { maxBuffer: 1 << 28, env: { PATH: process.env.PATH, TZ: "UTC" } };
    execFile(cuvee, ["--message-format", "json", ...words], settings, (error, output, messages) => {
      const lines = messages.split("\n").filter((line) => line.startsWith("{"));
      done({ ok: !error, output, messages: lines.map((line) => JSON.parse(line)) });
    });
  });

const files = Object.fromEntries([...below("tests/conformance"), ...below("examples")].map((path) => [path, readFileSync(path).toString("base64")]));
const directories = Object.keys(files).filter((path) => path.endsWith("/test.yaml")).map((path) => dirname(path));

/** Each question once, with the words that ask the command the same. */
const asked = [];
const ask = (one, question, choice, words) => asked.push({ ...one, question, choice, words });

for (const one of directories.map(caseOf)) {
  const { template, choice } = one;
  const chosen = flags(choice);
  // With a limit of time, an error does not count what validating finds beside it.
  ask(one, "resolve", choice, ["resolve", template, "--timeout", "600", ...chosen]);
  ask(one, "validate", choice, ["validate", template, "--format", "json", ...chosen]);
}

// Zones are those of the system for the command, and those of Node and browsers for the module: names, offsets beside them, days that begin twice or not at all.
const NAMED = [
  "2026-12-24T18:00[Europe/Berlin]",
  "2026-12-24[europe/berlin]",
  "2026-12-25T23:30:10.5Z[Europe/Berlin]",
  "2026-12-25 23:30+01:00[!Europe/Berlin][u-ca=iso8601]",
  "2026-12-26T11:00Z[Pacific/Kiritimati]",
  "2026-12-28T05:00z[America/New_York]",
  "2026-03-29T02:30[Europe/Berlin]",
  "2026-10-25T02:30[Europe/Berlin]",
  "2026-10-25T02:30+01:00[Europe/Berlin]",
  "2011-12-30T12:00[Pacific/Apia]",
  "2018-11-04[America/Sao_Paulo]",
  "1847-11-30T12:00[Europe/London]",
  "2026-12-24T18:00[+05:30]",
];
for (const one of directories.map(caseOf).filter(({ name }) => name.includes("/weekday-"))) {
  for (const now of NAMED) ask(one, "resolve", { ...one.choice, now }, ["resolve", one.template, "--timeout", "600", ...flags({ ...one.choice, now })]);
}

const examples = readdirSync("examples", { withFileTypes: true }).map((entry) => (entry.isDirectory() ? templateIn(join("examples", entry.name)) : join("examples", entry.name)));
// Definitions of TOSCA 1.0 are left to the command.
for (const template of examples.filter((path) => path?.endsWith(".yaml"))) {
  const one = { name: template, template, roots: [dirname(template)] };
  const json = ["--format", "json"];
  const { output } = await run(["matrix", template, ...json]);
  const { columns = [], rows = [] } = output === "" ? {} : JSON.parse(output);
  const presets = columns.flatMap(({ preset, rejected }) => (preset === null || rejected.length > 0 ? [] : [preset]));
  ask(one, "validate", { portable: true }, ["validate", template, ...json, "--portable"]);
  ask(one, "matrix", {}, ["matrix", template, ...json]);
  ask(one, "matrix", { elements: "all" }, ["matrix", template, ...json, "--elements", "all"]);
  ask(one, "types", {}, ["types", template, ...json]);
  ask(one, "types", { name: "tosca.nodes.Compute" }, ["types", template, "tosca.nodes.Compute", ...json]);
  ask(one, "inputs", {}, ["inputs", template, ...json]);
  ask(one, "variants", { limit: 7 }, ["variants", template, ...json, "--limit", "7"]);
  ask(one, "variants", { sample: 3, seed: 5, projection: "nodes" }, ["variants", template, ...json, "--sample", "3", "--seed", "5", "--projection", "nodes"]);
  ask(one, "variants", { twise: 2 }, ["variants", template, ...json, "--pairwise"]);
  ask(one, "variants", { allPresets: true }, ["variants", template, ...json, "--all-presets"]);
  ask(one, "count", { projection: "nodes" }, ["variants", template, ...json, "--count", "--projection", "nodes"]);
  ask(one, "graph", {}, ["graph", template, ...json]);
  for (const format of ["svg", "mermaid", "dot"]) ask(one, "graph", { format }, ["graph", template, "--format", format]);
  for (const preset of presets) {
    const choice = { presets: [preset] };
    const chosen = flags(choice);
    ask(one, "resolve-json", choice, ["resolve", template, ...json, ...chosen]);
    ask(one, "validate", choice, ["validate", template, ...json, ...chosen]);
    ask(one, "count", choice, ["variants", template, ...json, "--count", ...chosen]);
    ask(one, "graph", { ...choice, presentOnly: true }, ["graph", template, ...json, "--present-only", ...chosen]);
    ask(one, "diff", { from: presets[0], to: preset }, ["diff", template, "--from", presets[0], "--to", preset, ...json]);
    for (const { identifier } of rows) ask(one, "explain", { ...choice, element: identifier }, ["explain", template, identifier, ...json, ...chosen]);
  }
}

// As many commands at once as there are cores.
const open = asked.entries();
const work = async () => {
  for (const [index, { words, ...one }] of open) asked[index] = { ...one, ...(await run(words)) };
};
await Promise.all(Array.from({ length: availableParallelism() }, work));
process.stdout.write(JSON.stringify({ files, asked }));
