// The built site in Chromium: budgets, the playground, without a network, by keyboard, for everybody.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import AxeBuilder from "@axe-core/playwright";
import { chromium } from "playwright-core";
import { serve } from "./serve.mjs";

const folder = process.env.SITE;
const cuvee = (...words) => execFileSync(process.env.CUVEE, words, { cwd: new URL("../..", import.meta.url).pathname, encoding: "utf8" });
let browser, site;

before(async () => {
  site = await serve(folder, "/cuvee/");
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
});
after(async () => {
  await browser.close();
  await site.close();
});

/** A page, with what it should not do: complain, or ask anybody else. */
async function open(path, options = {}, script = () => {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, serviceWorkers: "block", acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const trouble = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !/blocked by Playwright/.test(message.text()) && trouble.push(message.text()));
  page.on("pageerror", (error) => trouble.push(error.message));
  page.on("request", (request) => request.url().startsWith(site.origin) || /^(blob|data):/.test(request.url()) || trouble.push(request.url()));
  await page.addInitScript(script);
  await page.goto(site.address + path);
  return { page, context, finish: async () => (assert.deepEqual(trouble, []), await context.close()) };
}

const left = (page, text) => page.locator(".left strong", { hasText: text }).waitFor();
/** Waits until there are all answers to what is typed and chosen. */
const ready = async (page) => {
  await left(page, /variants? left/);
  await page.locator('.results[aria-busy="false"]').waitFor();
};
const editor = (page) => page.getByRole("textbox", { name: /^Text of/ });
const choose = (page, preset) => page.getByRole("checkbox", { name: new RegExp(`^${preset}`) }).check();

/** What a page asks for, packed. */
async function weigh(path, until) {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  const asked = [];
  page.on("response", (response) => asked.push(response));
  await page.goto(site.address + path);
  await until(page);
  let sum = 0;
  const names = [];
  for (const response of asked) {
    const body = await response.body();
    sum += gzipSync(body, { level: 9 }).length;
    names.push(response.url());
  }
  await context.close();
  return { sum, names };
}

test("the first page is light, and the module comes after the editor", async () => {
  const first = await weigh("", (page) => page.waitForLoadState("networkidle"));
  assert.ok(first.sum < 150_000, `the first page has ${first.sum} bytes`);
  assert.ok(!first.names.some((name) => name.endsWith(".wasm")));
  const all = await weigh("playground.html", ready);
  assert.ok(all.sum < 1_600_000, `the playground has ${all.sum} bytes`);
  console.log(`site: first page ${first.sum} bytes, playground ${all.sum} with gzip`);
  // With a module that never comes, there is an editor all the same.
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.route("**/*.wasm", () => {});
  await page.goto(`${site.address}playground.html`);
  await editor(page).waitFor();
  await context.close();
});

test("opens with the shop, and shows what the command says", async () => {
  const { page, finish } = await open("playground.html");
  await left(page, /^459 variants left$/);
  await choose(page, "prod");
  await left(page, /^4 variants left$/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  assert.equal(readFileSync(await download.path(), "utf8"), cuvee("resolve", "examples/shop", "--preset", "prod"));
  await page.getByLabel(/^visitors/).fill("12000");
  await ready(page);
  await page.getByRole("tab", { name: "Graph" }).click();
  await page.locator('.drawing [data-id="node.cluster"].present').waitFor();
  const engine = page.getByRole("button", { name: /^engine/ });
  assert.equal(await engine.getAttribute("aria-description"), "absent");
  await engine.click();
  const verdict = (text) => page.locator(".verdict", { hasText: text }).waitFor();
  await verdict("node.engine is absent");
  await page.getByLabel("Element").selectOption("node.broker");
  await verdict("node.broker is present");
  await page.getByRole("button", { name: "Do that" }).click();
  await verdict("node.broker is absent");
  assert.equal(await page.getByLabel(/^durable_orders/).inputValue(), "false");
  await finish();
});

test("tells mistakes as they are typed, and repairs them", async () => {
  const { page, finish } = await open("playground.html");
  await ready(page);
  await editor(page).click();
  // A node whose type is misspelt.
  const text = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    box:\n      type: tosca.nodes.Compte\n";
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await page.getByRole("tab", { name: /Messages/ }).click();
  await page.getByText("there is no node type `tosca.nodes.Compte`").waitFor();
  await page.locator(".cm-lintRange-error").waitFor();
  await page.locator('a[href$="codes.html#unknown-type"]').waitFor();
  await page.getByRole("button", { name: "Replace by tosca.nodes.Compute" }).click();
  await page.getByText("Nothing is wrong, in any variant.").waitFor();
  // Words are offered where somebody types, and what stands there is explained.
  await editor(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("      cap");
  await page.keyboard.press("Control+Space");
  await page.getByRole("option", { name: /capabilities/ }).waitFor();
  await finish();
});

test("a link opens what it was copied from, and holds it behind the mark", async () => {
  const { page, context, finish } = await open("playground.html", { permissions: ["clipboard-write"] });
  await ready(page);
  await choose(page, "edge");
  await page.getByRole("button", { name: "lib/types.yaml" }).click();
  await editor(page).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("# ours\n");
  await ready(page);
  const counted = await page.locator(".left strong").textContent();
  site.asked.length = 0;
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByText("the link copied").waitFor();
  const link = page.url();
  assert.match(link, /\/playground\.html#p=[\w-]+$/);
  const other = await context.newPage();
  other.setDefaultTimeout(60_000);
  await other.goto(link);
  await left(other, counted);
  assert.ok(await other.getByRole("checkbox", { name: /^edge/ }).isChecked());
  await other.getByRole("button", { name: "lib/types.yaml" }).click();
  await other.getByText("# ours").waitFor();
  assert.ok(site.asked.every((url) => !url.includes("p=")), "the link was sent");
  // What is too long for a link is a file, which can be opened.
  const noise = Array.from({ length: 4000 }, (_, index) => `# ${Math.sin(index)}`).join("\n");
  await other.getByLabel("Open a file").setInputFiles({ name: "noise.yaml", mimeType: "text/yaml", buffer: Buffer.from(noise) });
  await other.getByText("noise.yaml is open").waitFor();
  const [download] = await Promise.all([other.waitForEvent("download"), other.getByRole("button", { name: "Copy link" }).click()]);
  const file = await download.path();
  assert.ok(JSON.parse(readFileSync(file, "utf8")).files["lib/types.yaml"].startsWith("# ours"));
  await page.getByLabel("Example").selectOption("guestbook");
  await page.getByLabel("Open a file").setInputFiles({ name: "playground.json", mimeType: "application/json", buffer: readFileSync(file) });
  await page.getByText("playground.json is open").waitFor();
  await left(page, counted);
  // A damaged link is said to be so.
  await page.goto(`${site.address}playground.html#p=abc`);
  await page.reload();
  await page.getByText("the address cannot be read").waitFor();
  await ready(page);
  await finish();
});

/** What workers answer while `window.isHeld`, kept in `window.held` until somebody tells it. */
function holdAnswers() {
  window.held = [];
  window.Worker = class extends Worker {
    set onmessage(tell) {
      super.onmessage = (event) => (window.isHeld ? window.held.push(() => tell.call(this, event)) : tell.call(this, event));
    }
  };
}

test("typing never waits for an answer", async () => {
  const { page, context, finish } = await open("playground.html", {}, holdAnswers);
  await ready(page);
  await editor(page).click();
  await page.keyboard.press("Control+Home");
  // Processor time of the page's own thread: what other programs do does not count.
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => (await session.send("Performance.getMetrics")).metrics.find((it) => it.name === "TaskDuration").value;
  const before = await spent();
  const keys = [...`${"#".repeat(9)}\n`.repeat(6)];
  const missed = await page.evaluate(async (keys) => {
    window.isHeld = true;
    const content = document.querySelector(".files .editor").shadowRoot.querySelector(".cm-content");
    content.focus();
    let typed = "";
    for (const key of keys) {
      document.execCommand("insertText", false, key);
      typed += key;
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const lines = [...content.querySelectorAll(".cm-line")].map((line) => line.textContent);
      if (!lines.join("\n").startsWith(typed)) return typed;
    }
    return undefined;
  }, keys);
  assert.equal(missed, undefined, "each key is there a frame later");
  const each = (await spent() - before) / keys.length;
  assert.ok(each < 0.05, `a key takes ${each} s of the page's time`);
  // There were answers, and nobody has told them.
  await page.waitForFunction(() => window.held.length > 0);
  await page.evaluate(() => {
    window.isHeld = false;
    for (const tell of window.held) tell();
  });
  await ready(page);
  await finish();
});

test("works without a network after one visit", async () => {
  const own = await serve(folder, "/cuvee/");
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(own.address);
  await page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    while (active.state !== "activated") await new Promise((done) => setTimeout(done, 50));
  });
  await own.close();
  for (const path of ["tutorial.html", "codes.html#unknown-type"]) {
    await page.goto(own.address + path);
    await page.locator("h1").first().waitFor();
  }
  await page.goto(`${own.address}playground.html`);
  await left(page, /^459 variants left$/);
  await page.goto(own.address);
  await page.getByRole("link", { name: "Try it here" }).click();
  await ready(page);
  await context.close();
});

test("everything can be done by keyboard", async () => {
  const { page, finish } = await open("playground.html");
  await ready(page);
  const press = (key) => page.keyboard.press(key);
  const focused = () => page.evaluate(() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at?.dataset.id ?? at?.getAttribute("aria-label") ?? at?.closest("label")?.textContent.trim() ?? at?.textContent.trim();
  });
  const seen = [];
  await page.getByLabel("Example").focus();
  for (let index = 0; index < 40; index += 1) {
    seen.push(await focused());
    if (/^dev/.test(seen.at(-1) ?? "")) await press("Space");
    if (seen.at(-1) === "Variant") break;
    await press("Tab");
  }
  for (const wanted of [/^Copy link/, /^variable-service-template/, /^Text of/, /^dev/, /^stack/, /^Variant/]) {
    assert.ok(seen.some((it) => wanted.test(it ?? "")), `${wanted} is not reached: ${seen.join(" | ")}`);
  }
  assert.ok(await page.getByRole("checkbox", { name: /^dev/ }).isChecked());
  await ready(page);
  await press("ArrowRight");
  await press("ArrowRight");
  assert.equal(await focused(), "Graph");
  await press("Tab");
  await press("Tab");
  assert.match(await focused(), /^node\./);
  await press("Enter");
  await page.locator(".verdict", { hasText: /^node\.\S+ is (present|absent)/ }).waitFor();
  await finish();
});

const bad = async (page) => {
  const values = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  // No page has a frame of another origin, and what passes is not looked at: so it takes a fourth of the time.
  const builder = new AxeBuilder({ page }).setLegacyMode().options({ runOnly: { type: "tag", values }, resultTypes: ["violations"] });
  const { violations } = await builder.analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((it) => it.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
};

/** Some pages, or, with SITE_PAGES=all, all but the playground. */
function pages() {
  if (process.env.SITE_PAGES !== "all") return ["", "start.html", "codes.html", "command.html", "javascript.html"];
  return readdirSync(folder).filter((name) => name.endsWith(".html") && name !== "playground.html");
}

for (const colorScheme of ["light", "dark"]) {
  test(`is there for everybody, ${colorScheme}`, async () => {
    for (const path of pages()) {
      const { page, finish } = await open(path, { colorScheme });
      assert.deepEqual(await bad(page), [], path);
      await finish();
    }
    const { page, finish } = await open("playground.html", { colorScheme });
    await ready(page);
    await choose(page, "prod");
    await ready(page);
    for (const name of ["Variant", /Messages/, "Graph", "Why"]) {
      await page.getByRole("tab", { name }).click();
      assert.deepEqual(await bad(page), [], `playground, ${name}`);
    }
    await finish();
  });
}

test("fits on narrow screens", async () => {
  for (const path of [...pages(), "playground.html"]) {
    const { page, finish } = await open(path, { viewport: { width: 320, height: 640 } });
    if (path === "playground.html") await ready(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 320, `${path} is ${width} wide`);
    await finish();
  }
});
