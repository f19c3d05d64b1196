// Pages link as they do in the repository. A link to another page leads to that page here; any other file is copied beside the pages, so that its link leads
// somewhere, too. A link to what is not there is a mistake.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

const root = new URL("../..", import.meta.url).pathname;
/** The files that pages name, below the root of the repository. */
const linked = new Set();

/** Below which path the site is served. */
const base = process.env.SITE_BASE ?? "/";

const isDirectory = (path) => statSync(join(root, path)).isDirectory();
const isElsewhere = (target) => /^(\w+:|#|\/)/.test(target);

/** Where a link leads to from a file of the repository; nothing where it is a page's own. */
function address(file, target, pages) {
  if (isElsewhere(target)) return undefined;
  const [path, anchor] = target.split("#");
  const named = normalize(join(dirname(file), decodeURI(path))).replace(/\/$/, "");
  const behind = anchor === undefined ? "" : `#${anchor}`;
  const page = pages[named] ?? (/^docs\/[^/]+\.md$/.test(named) ? named.slice("docs/".length) : undefined);
  if (page !== undefined) return `/${page}${behind}`;
  if (!existsSync(join(root, named))) throw new Error(`${file} links to ${target}, which is not there`);
  const example = named.match(/^examples\/([^/]+)$/)?.[1];
  if (example !== undefined && isDirectory(named)) return `/playground.md#example=${example}`;
  linked.add(named);
  return `${base}files/${named}${isDirectory(named) ? "/" : ""}`;
}

/** Rewrites the links of pages. */
export const linkSources = (pages) => (markdown) => {
  markdown.core.ruler.push("cuvee_links", ({ tokens, env }) => {
    // A title that is looked at for itself has no file.
    if (env.path === undefined) return;
    const file = relative(root, env.realPath ?? env.path);
    for (const token of tokens.flatMap((it) => it.children ?? [])) {
      if (token.type !== "link_open") continue;
      const leads = address(file, token.attrGet("href"), pages);
      if (leads === undefined) continue;
      token.attrSet("href", leads);
      // A file is no page of the site: it is opened as it is.
      if (leads.startsWith(`${base}files/`)) {
        token.attrSet("target", "_self");
        token.attrSet("class", "file");
      }
    }
  });
};

export function copyLinkedFiles(outDir) {
  for (const path of linked) {
    const target = join(outDir, "files", path);
    const files = isDirectory(path) ? filesIn(path) : [""];
    for (const file of files) cpSync(join(root, path, file), join(target, file), { dereference: true });
    if (isDirectory(path)) writeFileSync(join(target, "index.html"), listing(path, files));
  }
}

/** The files of the repository in a directory: neither what was installed there nor what was built. */
function filesIn(path) {
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const names = execFileSync("git", words, { cwd: join(root, path), encoding: "utf8" }).split("\0");
  return names.filter((name) => name && existsSync(join(root, path, name))).sort();
}

/** What is in a directory, for hosts that do not list it themselves. */
function listing(path, files) {
  const entries = files.map((name) => `<li><a href="${encodeURI(name)}">${name}</a></li>`);
  return `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>${path}</title><h1>${path}</h1>\n<ul>\n${entries.join("\n")}\n</ul>\n</html>\n`;
}

/** Pages that lie outside of the site's own directory use the packages that are installed in it. */
export const packagesForPages = () => ({
  name: "cuvee-packages",
  enforce: "pre",
  resolveId(id, importer, options) {
    if (!importer?.split("?")[0].endsWith(".md") || !/^[\w@]/.test(id)) return undefined;
    return this.resolve(id, new URL("config.mjs", import.meta.url).pathname, { ...options, skipSelf: true });
  },
});
