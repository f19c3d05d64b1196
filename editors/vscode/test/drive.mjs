// Drives the extension in a real editor, with a keyboard and a mouse: `node test/drive.mjs VSIX CUVEE [PICTURES]`. The extension has the command in it.
// The editor is code-server in `CODE_SERVER`, run by the Node in `CODE_NODE`; the browser is Debian's Chromium, driven by `PLAYWRIGHT`.
// PICTURES is a directory for what it looks like.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const [vsix, cuvee, pictures] = process.argv.slice(2).map((it) => path.resolve(it));
const examples = fileURLToPath(new URL('../../../examples/', import.meta.url));
const place = mkdtempSync(path.join(tmpdir(), 'cuvee-code-'));
const folder = path.join(place, 'shop');
const template = path.join(folder, 'variable-service-template.yaml');
const PATIENCE = 60_000;

/** A copy of the shop in which a word is misspelt. */
function shop() {
  cpSync(path.join(examples, 'shop'), folder, { recursive: true });
  const text = readFileSync(template, 'utf8');
  const wrong = text.replace('type: shop.nodes.Cluster', 'type: shop.nodes.Clustr');
  assert.notEqual(wrong, text);
  writeFileSync(template, wrong);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The editor with the extension; where nothing is trusted, each folder is one of strangers. */
async function editor(trusts = true) {
  const user = path.join(place, trusts ? 'user' : 'stranger');
  const own = ['--extensions-dir', path.join(place, 'extensions'), '--user-data-dir', user];
  const entry = path.join(process.env.CODE_SERVER, 'out/node/entry.js');
  const settings = {
    'security.workspace.trust.enabled': !trusts,
    'security.workspace.trust.startupPrompt': 'never',
    'workbench.startupEditor': 'none',
    'workbench.secondarySideBar.defaultVisibility': 'hidden',
    'workbench.colorTheme': 'Default Light Modern',
    'editor.minimap.enabled': false,
    'diffEditor.renderSideBySide': true,
    'diffEditor.hideUnchangedRegions.enabled': false,
    'chat.disableAIFeatures': true,
    'telemetry.telemetryLevel': 'off',
  };
  mkdirSync(path.join(user, 'User'), { recursive: true });
  writeFileSync(path.join(user, 'User', 'settings.json'), JSON.stringify(settings));
  const installed = spawnSync(process.env.CODE_NODE, [entry, ...own, '--install-extension', vsix], { encoding: 'utf8' });
  assert.match(installed.stdout, /was successfully installed/, installed.stderr);
  const port = await freePort();
  const flags = ['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check'];
  // Neither a setting nor PATH names a command, so the extension takes its own.
  const env = { ...process.env, PATH: '/usr/bin:/bin' };
  const child = spawn(process.env.CODE_NODE, [entry, ...flags, ...own, folder], { stdio: 'ignore', env });
  const address = `http://127.0.0.1:${port}/`;
  for (let tries = 0; ; tries += 1) {
    try {
      await fetch(address);
      return { child, address: `${address}?folder=${folder}` };
    } catch (error) {
      assert.ok(tries < 300, String(error));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Opens the template. */
async function openTemplate(page, address) {
  await page.goto(address);
  await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').first().fill('variable-service-template.yaml');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'variable-service-template.yaml' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.editor-instance .view-line').first().waitFor();
  await page.keyboard.press('Control+B');
}

/** The program that a folder of strangers names is not started, however much else works. */
async function strangers(browser) {
  const [program, trace] = ['program', 'trace'].map((name) => path.join(folder, name));
  writeFileSync(program, `#!/bin/sh\ntouch '${trace}'\nexec '${cuvee}' "$@"\n`, { mode: 0o755 });
  mkdirSync(path.join(folder, '.vscode'), { recursive: true });
  writeFileSync(path.join(folder, '.vscode/settings.json'), JSON.stringify({ 'cuvee.path': program }));
  for (const trusts of [false, true]) {
    const { child, address } = await editor(trusts);
    try {
      const page = await browser.newPage({ viewport: { width: 1000, height: 640 } });
      page.setDefaultTimeout(PATIENCE);
      await openTemplate(page, address);
      await page.locator('.codelens-decoration a', { hasText: '459 variants' }).first().waitFor();
      assert.equal(existsSync(trace), trusts);
      await page.close();
    } finally {
      child.kill();
    }
  }
}

shop();
const { child, address } = await editor();
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 } });
  page.setDefaultTimeout(PATIENCE);
  const picture = async (name) => {
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true });
      // What blinks or fades is over then, and nothing is pointed at.
      await page.mouse.move(760, 60);
      await page.waitForTimeout(700);
      await page.screenshot({ path: path.join(pictures, `${name}.png`) });
    }
  };
  const done = (what) => console.log(`ok: ${what}`);
  const command = async (name) => {
    await page.keyboard.press('F1');
    await page.locator('.quick-input-widget input').first().fill(`>${name}`);
    // The list is filtered after the text has changed: only then is the first entry the command.
    const first = page.locator('.quick-input-list .monaco-list-row[data-index="0"]', { hasText: name });
    await first.waitFor();
    await page.keyboard.press('Enter');
  };

  await openTemplate(page, address);
  done('the shop is open');

  const status = page.locator('.statusbar-item', { hasText: 'no preset' });
  await status.waitFor();
  const finding = async () => {
    await command('Go to Next Problem in Files');
    await page.locator('.marker-widget').waitFor();
    await page.locator('.squiggly-error').first().waitFor();
    assert.match(await page.locator('.marker-widget').innerText(), /Clustr/);
  };
  await finding();
  await page.locator('.marker-widget a', { hasText: 'unknown-type' }).click({ modifiers: ['Control'] });
  await page.locator('.tab', { hasText: 'unknown-type' }).waitFor();
  await page.locator('.editor-instance .view-line', { hasText: 'A type is named that is not defined' }).first().waitFor();
  await page.locator('.tab', { hasText: 'unknown-type' }).first().click({ button: 'middle' });
  await page.locator('.tab', { hasText: 'unknown-type' }).waitFor({ state: 'detached' });
  done('the code of a mistake leads to what it means');

  await finding();
  await picture('finding');
  done('the mistake is underlined, and said');

  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+.');
  await page.locator('.action-widget .monaco-list-row', { hasText: 'shop.nodes.Cluster' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
  await page.keyboard.press('Control+S');
  const original = readFileSync(path.join(examples, 'shop/variable-service-template.yaml'), 'utf8');
  for (let tries = 0; readFileSync(template, 'utf8') !== original; tries += 1) {
    assert.ok(tries < 100, 'the repaired template is not what it was');
    await page.waitForTimeout(100);
  }
  done('the quick fix repairs it');

  await status.click();
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'dev' }).first().waitFor();
  await page.locator('.quick-input-widget input').first().fill('dev');
  await page.keyboard.press('Enter');
  await page.locator('.statusbar-item', { hasText: 'dev' }).first().waitFor();
  const dimmed = () =>
    [...document.querySelectorAll('.editor-instance .view-line span')].filter((it) => getComputedStyle(it).opacity === '0.4').map((it) => it.textContent).join(' ');
  await command('Go to Symbol in Editor');
  await page.locator('.quick-input-widget input').first().fill('@cluster');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'cluster' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForFunction(`(${dimmed})().replaceAll('\\u00a0', ' ').includes('shop.nodes.Cluster')`);
  await page.locator('.editor-instance .view-line', { hasText: 'absent in dev' }).first().waitFor();
  await picture('dimmed');
  done('what is absent with a preset is dimmed, and said at the end of its line');

  await command('cuvee: Explain Element at Cursor');
  const explained = page.locator('.editor-instance .view-lines', { hasText: 'is absent because' });
  await explained.waitFor();
  await command('View: Close Editors in Other Groups');
  done('the element at the cursor is explained');

  await command('cuvee: Show Variant');
  const variant = page.locator('.monaco-diff-editor .editor.modified');
  await variant.locator('.view-line', { hasText: 'tosca_simple_yaml_1_3' }).waitFor();
  assert.doesNotMatch(await variant.innerText(), /variability/);
  await picture('variant');
  done('the variant is shown beside the template');

  // Somebody types in the template beside it: what the variant says follows, or why there is none.
  const shown = (text) => variant.locator('.view-line', { hasText: text }).first().waitFor();
  await page.locator('.monaco-diff-editor .editor.original .view-line', { hasText: 'template_name: tea-shop' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type('-two');
  await shown('template_name: tea-shop-two');
  await page.keyboard.type(': x');
  await shown('error[syntax]');
  assert.doesNotMatch(await variant.innerText(), /template_name/);
  for (let typed = 0; typed < ': x'.length; typed += 1) {
    await page.keyboard.press('Backspace');
  }
  await shown('template_name: tea-shop-two');
  for (let typed = 0; typed < '-two'.length; typed += 1) {
    await page.keyboard.press('Backspace');
  }
  await variant.locator('.view-line', { hasText: 'tea-shop-two' }).waitFor({ state: 'detached' });
  await shown('template_name: tea-shop');
  await page.keyboard.press('Control+S');
  done('the variant follows what is typed, also through a broken text');

  await page.locator('.tab').first().click();
  await page.locator('.monaco-diff-editor').waitFor({ state: 'hidden' });
  const lines = readFileSync(template, 'utf8').split('\n');
  const goTo = async (start) => {
    await page.keyboard.press('Control+G');
    await page.locator('.quick-input-widget input').first().fill(`:${lines.findIndex((line) => line.startsWith(start)) + 1}`);
    await page.keyboard.press('Enter');
  };
  await goTo('  variability:');
  await page.locator('.codelens-decoration a', { hasText: '459 variants' }).first().waitFor();
  await goTo('    presets:');
  const lens = page.locator('.codelens-decoration a', { hasText: 'show graph' });
  await lens.first().click();
  const drawn = async () => {
    for (const frame of page.frames()) {
      const size = await frame.evaluate(() => document.querySelector('img[alt^="Graph"]')?.naturalWidth ?? 0).catch(() => 0);
      if (size > 100) {
        return true;
      }
    }
    return false;
  };
  for (let tries = 0; !(await drawn()); tries += 1) {
    assert.ok(tries < 300, 'no graph is drawn');
    await page.waitForTimeout(100);
  }
  await picture('graph');
  done('lenses count variants, and draw one');

  await command('View: Close All Editors');
  const made = path.join(place, 'shop.csar');
  const packed = spawnSync(cuvee, ['resolve', folder, '--preset', 'dev', '--output', made], { encoding: 'utf8' });
  assert.equal(packed.status, 0, packed.stderr);
  cpSync(made, path.join(folder, 'shop.csar'));
  await page.keyboard.press('Control+Shift+E');
  const archive = page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'shop.csar' });
  await archive.click({ button: 'right' });
  // A menu takes no clicks right after it was opened.
  const entry = page.locator('.context-view .action-label', { hasText: 'Read Archive' });
  await entry.waitFor();
  for (let tries = 0; await entry.isVisible(); tries += 1) {
    assert.ok(tries < 20, 'the menu takes no click');
    await page.waitForTimeout(500);
    await entry.click({ timeout: 1_000 }).catch(() => {});
  }
  await page.locator('.editor-instance .view-line', { hasText: 'tosca_simple_yaml_1_3' }).first().waitFor();
  await page.keyboard.press('Control+B');
  done('the template of an archive is read');

  await page.close();
  await strangers(browser);
  done('a folder that is not trusted names no program');
} catch (error) {
  const [page] = browser.contexts().flatMap((context) => context.pages());
  // What the editor has to say about it is behind the bell.
  await page?.locator('[id="status.notifications"]').click({ timeout: 5_000 }).catch(() => {});
  await page?.waitForTimeout(1_000);
  await page?.screenshot({ path: path.join(tmpdir(), 'cuvee-code.png') });
  throw error;
} finally {
  await browser.close();
  child.kill();
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}
