import { defineConfig } from "vitepress";
import { copyLinkedFiles, linkSources, packagesForPages } from "./links.mjs";
import { secure } from "./policy.mjs";
import { writeServiceWorker } from "./offline.mjs";
import { drawShop, examples } from "./examples.mjs";

/** Where `wasm/build` has put the package for npm. */
const PACKAGE = process.env.CUVEE_PACKAGE ?? new URL("../../target/npm/package", import.meta.url).pathname;

// The pages of `docs/` as they are, beside those that only the site has.
const PAGES = {
  "site/pages/index.md": "index.md",
  "site/pages/playground.md": "playground.md",
  "README.md": "start.md",
  "CHANGELOG.md": "changelog.md",
};
const page = (text, name) => ({ text, link: `/${name}` });

export default defineConfig({
  title: "cuvee",
  description: "One template for every variant of a deployment",
  lang: "en",
  base: process.env.SITE_BASE ?? "/",
  srcDir: "..",
  // Whatever else is Markdown here is no page.
  srcExclude: ["**/node_modules/**", "!(docs|site|README.md|CHANGELOG.md)/**", "ARCHITECTURE.md", "site/!(pages)/**", "docs/!(*.md)/**"],
  rewrites: { ...PAGES, "docs/:page.md": ":page.md" },
  outDir: process.env.SITE_OUT ?? "../target/site",
  cacheDir: "../target/site-cache",
  lastUpdated: false,
  // Without transitions there is no element of style that would have to be allowed.
  appearance: { disableTransition: false },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${process.env.SITE_BASE ?? "/"}icon.svg` }]],
  markdown: { config: linkSources(PAGES), theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } },
  vite: {
    plugins: [packagesForPages(), examples()],
    publicDir: new URL("../public", import.meta.url).pathname,
    resolve: { alias: { cuvee: `${PACKAGE}/index.js` } },
    build: { target: "es2022", chunkSizeWarningLimit: 1024, assetsInlineLimit: 0 },
    worker: { format: "es" },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    // The name of the link begins with what is read on it.
    notFound: { linkLabel: "Take me home" },
    nav: [page("Start", "start"), page("Tutorial", "tutorial"), page("Language", "language"), page("Playground", "playground")],
    sidebar: {
      "/playground": [],
      "/": [
        { text: "Begin", items: [page("Start", "start"), page("Tutorial", "tutorial"), page("Playground", "playground")] },
        {
          text: "Reference",
          items: [page("Language", "language"), page("Options", "options"), page("Codes of messages", "codes"), page("Deviations", "deviations")],
        },
        {
          text: "Command",
          items: [
            page("Commands and flags", "command"),
            page("Resolving", "resolving"),
            page("Validating", "validation"),
            page("All variants", "exploring"),
            page("Technologies", "technologies"),
            page("Substitution", "substitution"),
            page("TOSCA 1.0", "tosca-1.0"),
            page("TOSCA 2.0", "tosca-2.0"),
            page("In pipelines", "ci"),
            page("Speed", "performance"),
          ],
        },
        {
          text: "Deployments",
          items: [
            page("Plans", "plans"),
            page("Instances", "instances"),
            page("Questions to instances", "instances-query"),
            page("Operating", "operating"),
            page("Stores", "store"),
          ],
        },
        { text: "In programs", items: [page("Rust", "library"), page("Python", "python"), page("JavaScript", "javascript"), page("Editors", "editors")] },
        { text: "News", items: [page("Changes", "changelog")] },
      ],
    },
  },
  transformHtml: (html) => secure(html),
  async buildEnd({ outDir }) {
    copyLinkedFiles(outDir);
    await drawShop(PACKAGE, outDir);
    writeServiceWorker(outDir);
  },
});
