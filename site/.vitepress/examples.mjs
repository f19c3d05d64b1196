// The examples of the repository, as `virtual:examples`: the texts of each by their paths, and the template. The playground has them built in.

import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";

const NAME = "virtual:examples";
const root = new URL("../../examples", import.meta.url).pathname;
const TEMPLATES = ["variable-service-template.yaml", "service-template.yaml"];
const SHOWN = ["shop", "technologies", "guestbook", "deployment", "catalogue"];

function example(name) {
  const directory = join(root, name);
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => relative(directory, join(entry.parentPath, entry.name))).filter((path) => !path.startsWith("tests/") && /\.ya?ml$/.test(path));
  const template = TEMPLATES.find((path) => existsSync(join(directory, path)));
  // The template first, then the others by their names.
  const ordered = [template, ...paths.filter((path) => path !== template).sort()];
  return { name, template, files: Object.fromEntries(ordered.map((path) => [path, readFileSync(join(directory, path), "utf8")])) };
}

export const examples = () => ({
  name: "cuvee-examples",
  resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
  load: (id) => (id === `\0${NAME}` ? `export default ${JSON.stringify(SHOWN.map(example))};` : undefined),
});

/** Draws the variant of the shop that the first page shows. */
export async function drawShop(packageDirectory, outDir) {
  const { open } = await import(pathToFileURL(join(packageDirectory, "index.js")).href);
  const { files, template } = example("shop");
  writeFileSync(join(outDir, "shop.svg"), open(files, template).graph({ presets: "prod" }));
}
