// Pages link as they do in the repository. A link to another page leads to that page here; any other file is copied beside the pages, so that its link leads
// somewhere, too. A link to what is not there is a mistake.

import { cpSync, existsSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

const root = new URL("../..", import.meta.url).pathname;
/** The files that pages name, below the root of the repository. */
const linked = new Set();

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
  if (example !== undefined && statSync(join(root, named)).isDirectory()) return `/playground.md#example=${example}`;
  linked.add(named);
  return `/files/${named}${statSync(join(root, named)).isDirectory() ? "/" : ""}`;
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
      if (leads.startsWith("/files/")) {
        token.attrSet("target", "_self");
        token.attrSet("class", "file");
      }
    }
  });
};

export function copyLinkedFiles(outDir) {
  for (const path of linked) cpSync(join(root, path), join(outDir, "files", path), { recursive: true });
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
