// The page in a real browser: node browser.mjs CUVEE SHOP PAGE SMALL PAGE FIXED-PAGE LARGE-PAGE PROD-PAGE PLANS-PAGE INSTANCE-PAGE. Everything that the page says is held
// against what the command line says. FIXED-PAGE is of a template without open inputs, LARGE-PAGE of one whose drawing cannot be read as a
// whole, PROD-PAGE of the shop with its preset `prod`, PLANS-PAGE of one that has variants without a plan,
// INSTANCE-PAGE of the guest book with an instance of it in which one node runs and one has failed.
//
// Needs playwright-core, found by its usual name or in the directory PLAYWRIGHT, and Chromium, at CHROMIUM or /usr/bin/chromium.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [cuvee, template, page, small, smallPage, fixedPage, largePage, prodPage, plansPage, instancePage] = process.argv.slice(2);
const { chromium } = await import(process.env.PLAYWRIGHT ? pathToFileURL(`${process.env.PLAYWRIGHT}/index.mjs`).href : 'playwright-core');

const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: quiet });

const run = (...words) => JSON.parse(execFileSync(cuvee, ['-q', ...words, '--format', 'json'], { encoding: 'utf8', maxBuffer: 1 << 28 }));
const isPossible = (inputs) => spawnSync(cuvee, ['-q', 'variants', template, '--limit', '1', ...flags(inputs)]).status === 0;
const flags = (inputs) => Object.entries(inputs).flatMap(([name, value]) => ['-i', `${name}=${value}`]);

/** The commands whose YAML the page does not have. */
const withoutYaml = [];

/** Opens the page, and notes whatever it should not do. */
async function open(options = {}, file = page) {
  const opened = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const trouble = [];
  opened.on('console', (message) => message.type() !== 'log' && trouble.push(message.text()));
  opened.on('pageerror', (error) => trouble.push(error.message));
  opened.on('request', (request) => /^(file|data|blob):/.test(request.url()) || trouble.push(request.url()));
  await opened.goto(pathToFileURL(file).href);
  return { opened, finish: async () => (assert.deepEqual(trouble, []), await opened.close()) };
}

/** Presses a case, and holds the command that is printed then against what is shown. */
async function choose(opened, input, label) {
  await press(opened, input, label);
  await resolvesWhatIsShown(opened);
}

const press = (opened, input, label) => opened.locator(`[data-input="${input}"] .case`, { hasText: new RegExp(`^${label}`) }).first().click();

/** What the page says about each case of each input. */
const cases = (opened) =>
  opened.evaluate(() =>
    [...document.querySelectorAll('[data-input]')].map((row) => ({
      name: row.dataset.input,
      state: row.dataset.state,
      cases: [...row.querySelectorAll('.case:not(.none)')].map((one) => ({ label: one.textContent.trim(), locked: one.classList.contains('locked') })),
    })),
  );

const nodes = (opened, state) => opened.evaluate((state) => [...document.querySelectorAll(`#drawing .node.${state}`)].map((node) => node.dataset.id).sort(), state);

const onlyNodes = (identifiers) => identifiers.filter((id) => id.startsWith('node.')).sort();

/** Runs the command that is printed: all that is shown present is in the variant, nothing that is absent, and nothing else where nothing is open. */
async function resolvesWhatIsShown(opened) {
  const line = await opened.locator('#command-line').innerText();
  const said = execFileSync('sh', ['-c', `"$0" -q ${line.replace(/^cuvee /, '')} --format json`, cuvee], { encoding: 'utf8' });
  const found = Object.keys(JSON.parse(said).topology_template.node_templates ?? {}).map((name) => `node.${name}`).sort();
  const [present, absent, open] = await Promise.all(['present', 'absent', 'open'].map((state) => nodes(opened, state)));
  assert.deepEqual(present.filter((id) => !found.includes(id)), [], line);
  assert.deepEqual(absent.filter((id) => found.includes(id)), [], line);
  if (open.length === 0) assert.deepEqual(found, present, line);
  await holdsWhatItSays(opened, line);
  await plansWhatItSays(opened);
  assert.ok(present.length + absent.length + open.length > 0, line);
}

/** The YAML that the page has is what the command writes; and where it has none, it says so. */
async function holdsWhatItSays(opened, line) {
  const save = opened.locator('#save-yaml');
  const note = await opened.locator('#yaml-note').innerText();
  if (await save.isDisabled()) {
    assert.match(note, /^The YAML of this variant is not in this page, because .* is computed from visitors, and known for values of presets and cases only: the command above works it out\.$/, line);
    withoutYaml.push(line);
    return;
  }
  const said = execFileSync('sh', ['-c', `"$0" -q ${line.replace(/^cuvee /, '')}`, cuvee], { encoding: 'utf8' });
  const text = await saved(opened, save);
  assert.equal(text, withoutSecrets(said), line);
  assert.equal(note, text === said ? '' : 'Values that are sensitive are (sensitive) in the YAML of this page: the command above writes them.', line);
}

/** The YAML of the shop, whose one secret the page hides. */
const withoutSecrets = (text) => text.replace(/(database_password: .*default: )darjeeling/, '$1(sensitive)');

/** The plan of what is shown, and what is said of it, is what the command writes that stands below. */
async function plansWhatItSays(opened) {
  const line = await opened.locator('#plan-command').innerText();
  assert.match(line, /^cuvee plan /);
  // What is not known to be computed may fail.
  if (/visitors=4242/.test(line)) {
    assert.match(await opened.locator('#plan-note').innerText(), /not in the page, because property replicas of shop is computed from visitors, /);
    assert.deepEqual(await steps(opened), [], line);
    return '';
  }
  const said = execFileSync('sh', ['-c', `"$0" -q ${line.replace(/^cuvee /, '')}`, cuvee], { encoding: 'utf8' });
  const lines = said.split('\n').filter((line) => /^ *\d+  |  nothing to run/.test(line)).map((line) => line.trim().replace(/\s+/g, ' '));
  assert.deepEqual((await steps(opened)).sort(), lines.sort(), line);
  const head = await opened.locator('#plan-head').innerText();
  assert.ok(head !== '' && said.startsWith(`${head}\n`), line);
  await countsAlike(opened, line);
  return said;
}

/** The head, the boxes and the document of a plan count the same. */
async function countsAlike(opened, line) {
  const { summary } = JSON.parse(execFileSync('sh', ['-c', `"$0" -q ${line.replace(/^cuvee /, '')} --format json`, cuvee], { encoding: 'utf8', maxBuffer: 1 << 26 }));
  const head = await opened.locator('#plan-head').innerText();
  const counted = (text, word) => Number(text.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0);
  const cards = (await opened.evaluate(() => [...document.querySelectorAll('#plan-lanes .step')].map((card) => card.dataset.step.split('\n')))).filter(([, , , runs]) => runs !== 'nothing to run');
  const delegated = cards.filter(([, , , runs]) => runs === 'by the orchestrator').length;
  assert.deepEqual([counted(head, 'operation'), counted(head, 'delegation')], [summary.operations, summary.delegations], line);
  assert.deepEqual([cards.length - delegated, delegated], [summary.operations, summary.delegations], line);
  const kinds = await opened.evaluate(() => [...document.querySelectorAll('#plan-changes summary')].map((part) => part.textContent));
  for (const [word, key] of [['added', 'add'], ['removed', 'remove'], ['recreated', 'recreate'], ['rewired', 'rewire'], ['reconfigured', 'reconfigure']]) {
    if (/^update/.test(head)) assert.equal(kinds.filter((text) => text.includes(word)).reduce((sum, text) => sum + counted(text, 'node'), 0), summary[key], `${line} ${word} ${kinds}`);
  }
}

/** The text of the file that a button saves. */
async function saved(opened, button) {
  const [download] = await Promise.all([opened.waitForEvent('download'), button.click()]);
  return readFileSync(await download.path(), 'utf8');
}

async function propagates() {
  const { opened, finish } = await open();
  const chosen = {};
  for (const [input, value] of [['stack', 'cluster'], ['live', 'true'], ['durable_orders', 'false']]) {
    await choose(opened, input, value);
    chosen[input] = value;
    const analysis = run('analyze', template, ...flags(chosen));
    assert.deepEqual(await nodes(opened, 'present'), onlyNodes(analysis.core), `present with ${JSON.stringify(chosen)}`);
    assert.deepEqual(await nodes(opened, 'absent'), onlyNodes(analysis.dead.map(({ element }) => element)), `absent with ${JSON.stringify(chosen)}`);
    for (const { name, state, cases: all } of await cases(opened)) {
      if (all.length < 2) continue;
      const without = Object.fromEntries(Object.entries(chosen).filter(([other]) => other !== name));
      const free = all.filter(({ label, locked }) => {
        assert.equal(locked, !isPossible({ ...without, [name]: label }), `${name} = ${label} with ${JSON.stringify(without)}`);
        return !locked;
      });
      assert.equal(state, name in chosen ? 'chosen' : free.length === 1 ? 'follows' : 'open', name);
    }
  }
  await opened.locator('#undo').click();
  await resolvesWhatIsShown(opened);
  assert.equal((await cases(opened)).find(({ name }) => name === 'durable_orders').state, 'open');
  await opened.locator('#reset').click();
  await resolvesWhatIsShown(opened);
  assert.ok((await cases(opened)).every(({ state }) => state !== 'chosen'));
  await finish();
}

async function explainsLocks() {
  const { opened, finish } = await open();
  await choose(opened, 'live', 'true');
  await press(opened, 'stack', 'laptop');
  const why = opened.locator('[data-input="stack"] .why');
  assert.match(await why.innerText(), /stack = laptop is not possible beside\s+live = true/);
  assert.match(await why.innerText(), /live implies not on_laptop/);
  await why.locator('button.primary').click();
  await resolvesWhatIsShown(opened);
  const after = await cases(opened);
  assert.equal(after.find(({ name }) => name === 'stack').state, 'chosen');
  assert.notEqual(after.find(({ name }) => name === 'live').state, 'chosen');
  await finish();
}

async function worksByKeyboard() {
  const { opened, finish } = await open();
  const radio = (input, at) => opened.locator(`[data-input="${input}"] .case`).nth(at);
  await radio('payments', 0).focus();
  await opened.keyboard.press('ArrowRight');
  await opened.keyboard.press('Space');
  assert.equal(await radio('payments', 1).getAttribute('aria-checked'), 'true');
  assert.match(await opened.locator('#live').innerText(), /payments = false/);
  await resolvesWhatIsShown(opened);
  await radio('payments', 1).focus();
  await opened.keyboard.press('Delete');
  assert.equal(await radio('payments', 0).getAttribute('aria-checked'), 'true');
  await opened.locator('#drawing .node').first().focus();
  const before = await opened.evaluate(() => document.activeElement.dataset.id);
  await opened.keyboard.press('ArrowDown');
  assert.notEqual(await opened.evaluate(() => document.activeElement.dataset.id), before);
  await opened.keyboard.press('Enter');
  assert.ok(await opened.locator('#details').evaluate((dialog) => dialog.open));
  assert.doesNotMatch(await opened.locator('#details').innerText(), /\[object|undefined|null|false/);
  await opened.keyboard.press('Escape');
  assert.ok(!(await opened.locator('#details').evaluate((dialog) => dialog.open)));
  await finish();
}

async function comparesPresets() {
  const { opened, finish } = await open();
  const matrix = run('matrix', template);
  const [dev, prod] = ['dev', 'prod'].map((preset) => matrix.columns.findIndex((column) => column.preset === preset));
  await opened.locator('[data-mode=compare]').click();
  await opened.locator('#view-first').selectOption({ label: 'dev' });
  await opened.locator('#view-second').selectOption({ label: 'prod' });
  const of = (before, after) => matrix.rows.filter(({ present }) => present[dev] === before && present[prod] === after).map(({ identifier }) => identifier).sort();
  assert.deepEqual(await nodes(opened, 'added'), of(false, true));
  assert.deepEqual(await nodes(opened, 'removed'), of(true, false));
  assert.deepEqual(await nodes(opened, 'present'), of(true, true));
  assert.deepEqual(await nodes(opened, 'absent'), of(false, false));
  await finish();
}

async function loadsAndCompletes() {
  const { opened, finish } = await open();
  await opened.locator('#load').selectOption({ label: 'edge' });
  const edge = run('variants', template, '--all-presets').variants.find(({ preset }) => preset === 'edge');
  assert.deepEqual(await nodes(opened, 'present'), onlyNodes(edge.present));
  await resolvesWhatIsShown(opened);
  await opened.locator('#reset').click();
  await choose(opened, 'monitoring', 'true');
  await opened.locator('#complete').click();
  assert.deepEqual(await nodes(opened, 'open'), []);
  assert.match(await opened.locator('#command-line').innerText(), /^cuvee resolve /);
  await resolvesWhatIsShown(opened);
  // What is completed with defaults is not named, be they values or expressions.
  await opened.locator('#reset').click();
  await opened.locator('#complete').click();
  assert.match(await opened.locator('#command-line').innerText(), /examples\/shop$/);
  assert.match(await opened.locator('#command-note').innerText(), /^Every input is chosen: this is one variant\. \d+ inputs not named in it have their default\.$/);
  await resolvesWhatIsShown(opened);
  await opened.locator('#reset').click();
  await choose(opened, 'stack', 'cluster');
  assert.match(await opened.locator('#command-line').innerText(), / -i stack=cluster$/);
  await opened.locator('#complete').click();
  assert.match(await opened.locator('#command-line').innerText(), / -i stack=cluster$/);
  assert.equal(await opened.locator('#consequences strong').innerText(), 'Completed with defaults');
  await resolvesWhatIsShown(opened);
  // One choice may need others than the defaults: the command and the page name them.
  await opened.locator('#reset').click();
  await choose(opened, 'live', 'true');
  assert.match(await opened.locator('#command-line').innerText(), /-i tls=true -i backups=true/);
  assert.match(await opened.locator('#command-note').innerText(), /Follows from what is chosen: .*tls = true/);
  await opened.locator('#complete').click();
  assert.match(await opened.locator('#consequences').innerText(), /Completed with defaults\. Follows from what is chosen: .*tls = true/);
  await resolvesWhatIsShown(opened);
  await finish();
}

/** Every choice, one after the other, in each template. */
async function everyChoiceResolves() {
  for (const file of [page, smallPage, prodPage]) {
    const { opened, finish } = await open({}, file);
    await resolvesWhatIsShown(opened);
    for (const { name, cases: all } of await cases(opened)) {
      for (const { label, locked } of all) {
        if (locked) continue;
        await opened.locator(`[data-input="${name}"] .case:not(.none)`).nth(all.findIndex((one) => one.label === label)).click();
        await resolvesWhatIsShown(opened);
        await opened.locator('#reset').click();
      }
    }
    await finish();
  }
}

/** What the command fixes stays as it is, whatever the presets of the page have for it. */
async function keepsWhatTheCommandFixes() {
  const { opened, finish } = await open({}, prodPage);
  const presets = await opened.locator('#load option:not([disabled])').allInnerTexts();
  assert.ok(presets.includes('sale'), presets.join());
  for (const preset of presets.slice(1)) {
    await opened.locator('#load').selectOption({ label: preset });
    await resolvesWhatIsShown(opened);
  }
  await finish();
}

/** With the mouse as people have it: what is in the way of it is in the way here. */
async function zoomsByMouse() {
  for (const viewport of [{ width: 1280, height: 900 }, { width: 390, height: 800 }]) {
    const { opened, finish } = await open({ viewport });
    const drawing = opened.locator('#drawing');
    if (await drawing.isHidden()) await opened.locator('#overview-toggle').click();
    await drawing.scrollIntoViewIfNeeded();
    const size = async () => (await opened.locator('#drawing svg').boundingBox()).width;
    const press = async (id) => {
      await opened.locator(id).scrollIntoViewIfNeeded();
      const box = await opened.locator(id).boundingBox();
      await opened.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    };
    const fitted = await size();
    await press('#zoom-in');
    assert.ok((await size()) > 1.2 * fitted);
    await press('#zoom-out');
    assert.ok(Math.abs((await size()) - fitted) < 2);
    for (let times = 0; times < 6; times++) await press('#zoom-in');
    await drawing.scrollIntoViewIfNeeded();
    const frame = await drawing.boundingBox();
    const [x, y] = [frame.x + frame.width / 2, frame.y + frame.height / 2];
    const scrolled = () => drawing.evaluate((place) => [place.scrollLeft, place.scrollTop]);
    const [left, top] = await scrolled();
    await opened.mouse.move(x, y);
    await opened.mouse.down();
    await opened.mouse.move(x - 40, y - 30, { steps: 4 });
    await opened.mouse.up();
    const after = await scrolled();
    assert.ok(after[0] > left && after[1] > top, `${left} ${top} became ${after}`);
    assert.ok(!(await opened.locator('#details').evaluate((dialog) => dialog.open)), 'a drag is no press');
    await scrollsThePage(opened, [x, y], size);
    for (const [key, turn] of [['Control', 40], ['Control', 20], ['Meta', 20]]) {
      const before = await size();
      // The point under the pointer stays where it is.
      const under = () => opened.evaluate(([x, y]) => (([box]) => (x - box.left) / box.width + (y - box.top) / box.height)([document.querySelector('#drawing svg').getBoundingClientRect()]), [x, y]);
      const point = await under();
      const at = await opened.evaluate(() => scrollY);
      await opened.keyboard.down(key);
      await opened.mouse.move(x, y);
      await opened.mouse.wheel(0, turn);
      await opened.waitForTimeout(120);
      await opened.keyboard.up(key);
      assert.ok((await size()) < before, key);
      assert.ok(Math.abs((await under()) - point) < 0.05, key);
      assert.equal(await opened.evaluate(() => scrollY), at, 'the page stays where it is');
      assert.ok(await opened.locator('#zoom-hint').isHidden());
    }
    await pressesNodes(opened);
    await press('#zoom-fit');
    const inside = await opened.evaluate(() => {
      const [frame, svg] = ['#drawing', '#drawing svg'].map((one) => document.querySelector(one).getBoundingClientRect());
      return svg.left >= frame.left && svg.right <= frame.right && svg.top >= frame.top && svg.bottom <= frame.bottom;
    });
    assert.ok(inside, 'all of it is seen');
    await finish();
  }
}

/** A wheel over the drawing scrolls the page alone, and whoever points there is told how to zoom. */
async function scrollsThePage(opened, [x, y], size) {
  const hint = opened.locator('#zoom-hint');
  const place = () => opened.evaluate(() => [scrollY, document.querySelector('#drawing').scrollTop]);
  const [before, [page, drawing]] = [await size(), await place()];
  const wheel = async (by) => {
    await opened.mouse.wheel(0, by);
    await opened.waitForTimeout(400);
  };
  await opened.mouse.move(x - 3, y - 3);
  await opened.mouse.move(x, y);
  await wheel(60);
  assert.match(await hint.innerText(), /^(Ctrl|⌘) and wheel zooms/);
  const [after, inside] = await place();
  assert.ok(after > page, `${page} became ${after}`);
  assert.equal(inside, drawing);
  assert.equal(await size(), before);
  await wheel(-60);
  await hint.waitFor({ state: 'hidden' });
  // Where the page scrolls below a pointer at rest, nobody tries to zoom.
  await wheel(20);
  assert.ok(await hint.isHidden());
  await wheel(-20);
  assert.deepEqual(await place(), [page, drawing]);
}

/** A press on a node that is in view opens what is known of it. */
async function pressesNodes(opened) {
  const seen = await opened.evaluate(() => {
    const frame = document.querySelector('#drawing').getBoundingClientRect();
    const middle = (box) => [box.left + box.width / 2, box.top + box.height / 2];
    const boxes = [...document.querySelectorAll('#drawing .node .box')].map((box) => [box.parentNode.dataset.id, ...middle(box.getBoundingClientRect())]);
    return boxes.find(([, x, y]) => x > frame.left + 30 && x < frame.right - 30 && y > Math.max(frame.top, 80) + 30 && y < Math.min(frame.bottom, innerHeight) - 30);
  });
  assert.ok(seen, 'a node is in view');
  await opened.mouse.click(seen[1], seen[2]);
  const details = opened.locator('#details');
  assert.ok(await details.evaluate((dialog) => dialog.open), seen[0]);
  assert.ok((await details.innerText()).includes(seen[0]), seen[0]);
  await opened.keyboard.press('Escape');
}

/** What is typed is taken as the command line takes it: in its case, in the command, in the address. */
async function typesValues() {
  const { opened, finish } = await open();
  const field = (input) => opened.locator(`[data-input="${input}"] .field`);
  const problem = (input) => opened.locator(`[data-input="${input}"] .problem`);
  const type = async (input, text) => {
    await field(input).click();
    await field(input).fill('');
    await opened.keyboard.type(text);
    await opened.keyboard.press('Enter');
  };
  const line = () => opened.locator('#command-line').innerText();
  await choose(opened, 'stack', 'cluster');
  for (const [input, text, why] of [['visitors', '0', /at least 1 and at most 100000/], ['visitors', '1.5', /an integer/], ['visitors', '100001', /at most 100000/], ['region', 'Moon', /\[a-z\]\+/]]) {
    await type(input, text);
    assert.match(await problem(input).innerText(), why);
    assert.doesNotMatch(await line(), new RegExp(input));
  }
  await type('visitors', '4242');
  await type('region', 'us-east');
  assert.match(await line(), /-i region=us-east -i visitors=4242/);
  await resolvesWhatIsShown(opened);
  const said = execFileSync('sh', ['-c', `"$0" -q ${(await line()).replace(/^cuvee /, '')}`, cuvee], { encoding: 'utf8' });
  assert.match(said, /replicas: 9/);
  assert.match(said, /region: us-east/);
  const before = await line();
  await opened.reload();
  assert.equal(await line(), before);
  assert.equal(await field('visitors').inputValue(), '4242');
  // What goes into an expression is known for the values of cases and presets.
  assert.match(withoutYaml.at(-1), /-i stack=cluster .*-i visitors=4242/);
  await type('visitors', '2000');
  await resolvesWhatIsShown(opened);
  assert.doesNotMatch(withoutYaml.at(-1), /visitors=2000/);
  await opened.locator('#undo').click();
  assert.equal(await line(), before);
  await opened.locator('[data-input="visitors"] .case', { hasText: 'open' }).click();
  assert.equal(await field('visitors').inputValue(), '');
  await opened.locator('#undo').click();
  assert.equal(await line(), before);
  await finish();
  const other = await open({}, smallPage);
  for (const [size, isLarge] of [['100', false], ['101', true], ['+7', false], ['1000', true]]) {
    const field = other.opened.locator('[data-input="size"] .field');
    await field.fill(size);
    await field.press('Enter');
    assert.equal((await nodes(other.opened, 'present')).includes('node.large'), isLarge, size);
    await resolvesWhatIsShown(other.opened);
  }
  await other.finish();
}

/** Two fingers zoom about the point between them, one moves the drawing. */
async function pinches() {
  const { opened, finish } = await open({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  const drawing = opened.locator('#drawing');
  if (await drawing.isHidden()) await opened.locator('#overview-toggle').tap();
  await drawing.scrollIntoViewIfNeeded();
  const frame = await drawing.boundingBox();
  const [x, y] = [frame.x + frame.width / 2, frame.y + frame.height / 2];
  const touch = await opened.context().newCDPSession(opened);
  const fingers = (type, ...apart) => touch.send('Input.dispatchTouchEvent', { type, touchPoints: apart.flatMap((by) => [{ x: x - by, y, id: 0 }, { x: x + by, y, id: 1 }]) });
  const size = async () => (await opened.locator('#drawing svg').boundingBox()).width;
  const under = () => opened.evaluate(([x, y]) => (([box]) => [(x - box.left) / box.width, (y - box.top) / box.height])([document.querySelector('#drawing svg').getBoundingClientRect()]), [x, y]);
  const move = async (from, to) => {
    await fingers('touchStart', from);
    for (let step = 1; step <= 8; step++) await fingers('touchMove', from + ((to - from) * step) / 8);
    await fingers('touchEnd');
  };
  const fitted = await size();
  await move(20, 80);
  const large = await size();
  assert.ok(Math.abs(large / fitted - 4) < 0.5, `${fitted} became ${large}`);
  const point = await under();
  await move(80, 50);
  assert.ok((await size()) < 0.75 * large);
  (await under()).forEach((part, at) => assert.ok(Math.abs(part - point[at]) < 0.05, `${point} became ${part}`));
  const scrolled = () => drawing.evaluate((place) => place.scrollLeft);
  const before = await scrolled();
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
  for (let step = 1; step <= 10; step++) await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: x - 8 * step, y }] });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await opened.waitForFunction((before) => document.querySelector('#drawing').scrollLeft > before, before);
  assert.ok(!(await opened.locator('#details').evaluate((dialog) => dialog.open)));
  await finish();
}

/** Wherever in the list a choice is made, what follows from it is seen. */
async function keepsConsequencesInView() {
  for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 700 }]) {
    const { opened, finish } = await open({ viewport });
    await opened.locator('[data-input="alerting"]').scrollIntoViewIfNeeded();
    await press(opened, 'alerting', 'true');
    const [seen, height] = await opened.evaluate(() => [document.querySelector('#consequences').getBoundingClientRect(), innerHeight]);
    assert.match(await opened.locator('#consequences').innerText(), /alerting = true/);
    assert.ok(seen.top >= 0 && seen.bottom <= height, `${seen.top} to ${seen.bottom} of ${height}`);
    const covers = await opened.evaluate(() => {
      const box = document.querySelector('#consequences').getBoundingClientRect();
      return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2).closest('#consequences') !== null;
    });
    assert.ok(covers, 'nothing lies over it');
    await finish();
  }
}

/** The command that a preset comes to is as good as the preset: values of properties are the same too. */
async function commandsReproducePresets() {
  for (const [of, file] of [[template, page], [small, smallPage]]) {
    const { opened, finish } = await open({}, file);
    const presets = await opened.locator('#load option:not([disabled])').allInnerTexts();
    assert.ok(presets.length > 3, presets.join());
    for (const preset of presets.slice(1)) {
      await opened.locator('#load').selectOption({ label: preset });
      const line = await opened.locator('#command-line').innerText();
      const words = line.replace(/^cuvee /, '');
      const said = execFileSync('sh', ['-c', `"$0" -q ${words}`, cuvee], { encoding: 'utf8' });
      const flag = preset === 'defaults' ? [] : ['--preset', preset];
      assert.equal(await saved(opened, opened.locator('#save-yaml')), withoutSecrets(said), preset);
      assert.equal(await saved(opened, opened.locator(`.matrix [aria-label="Save the YAML of ${preset}"]`)), withoutSecrets(said), preset);
      assert.equal(said, execFileSync(cuvee, ['-q', 'resolve', of, ...flag], { encoding: 'utf8' }), line);
    }
    await opened.locator('#undo').click();
    assert.doesNotMatch(await opened.locator('#command-line').innerText(), /undefined/);
    await finish();
  }
}

/** A drawing that cannot be read as a whole opens as a list, and what is searched for is in the middle. */
async function findsInLargeTopologies() {
  const { opened, finish } = await open({}, largePage);
  assert.ok(await opened.locator('#overview').isVisible());
  const tiles = opened.locator('#overview .tile:visible');
  // What is alike is collapsed until it is asked for.
  assert.deepEqual(await tiles.allInnerTexts(), ['stage_0']);
  const alike = opened.locator('#overview summary');
  assert.deepEqual(await alike.allInnerTexts(), ['stage_* × 119']);
  for (const one of await alike.all()) await one.click();
  assert.equal(await tiles.count(), await opened.locator('#drawing .node').count());
  await press(opened, 'full', 'true');
  assert.deepEqual(await alike.allInnerTexts(), ['stage_* × 120']);
  await opened.locator('#find-node').fill('stage_77');
  assert.equal(await tiles.count(), 1);
  await opened.keyboard.press('Enter');
  const isCentred = (id) =>
    opened.evaluate((id) => {
      const [frame, box] = ['#drawing', `#drawing [data-id="${id}"] .name`].map((one) => document.querySelector(one).getBoundingClientRect());
      return box.height > 10 && box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
    }, id);
  assert.ok(await isCentred('node.stage_77'));
  await opened.locator('#find-node').fill('stage_1');
  const seen = [];
  for (let times = 0; times < 3; times++) {
    await opened.keyboard.press('Enter');
    seen.push(await opened.locator('#drawing .found').getAttribute('data-id'));
    assert.ok(await isCentred(seen.at(-1)), seen.at(-1));
  }
  assert.equal(new Set(seen).size, 3);
  await opened.locator('#find-node').fill('nowhere');
  assert.equal(await opened.locator('#find-hits').innerText(), 'none');
  await finish();
}

/** An instance is shown by its states, until somebody wants to see something else. */
async function showsAnInstance() {
  const { opened, finish } = await open({}, instancePage);
  assert.deepEqual(await nodes(opened, 'present'), ['node.house']);
  assert.deepEqual(await nodes(opened, 'failed'), ['node.book']);
  assert.deepEqual(await nodes(opened, 'plain'), ['node.index', 'node.site']);
  assert.match(await opened.locator('#view-note').innerText(), /^instance:book, revision \d+ of .*; something is going on; beside the template there is aside\.$/);
  assert.equal(await opened.locator('#plan-command').innerText(), 'cuvee instance plan book');
  assert.match(await opened.locator('#legend').innerText(), /1 node started[^]*1 node error/);
  await opened.locator('#drawing [data-id="node.book"]').click();
  assert.match(await opened.locator('#details').innerText(), /book: error \(no disk\)/);
  await opened.keyboard.press('Escape');
  await opened.locator('[data-mode="preset"]').click();
  assert.deepEqual(await nodes(opened, 'failed'), []);
  assert.match(opened.url(), /view=preset/);
  await opened.reload();
  assert.equal(await opened.locator('[data-mode="preset"]').getAttribute('aria-checked'), 'true');
  await finish();
}

/** Below a host stands what it hosts. */
async function listsByHost() {
  const { opened, finish } = await open();
  await press(opened, 'stack', 'cluster');
  await opened.locator('#overview-toggle').click();
  await opened.locator('#overview-by').selectOption({ label: 'by host' });
  const hosts = await opened.locator('#overview summary').allInnerTexts();
  const graph = run('graph', template);
  const cluster = graph.nodes.findIndex(({ identifier }) => identifier === 'node.cluster');
  const sources = graph.relations.filter(({ hosting, target, identifier }) => hosting && target === cluster).map(({ source }) => graph.nodes[source].name);
  await opened.locator('#overview summary', { hasText: 'cluster hosts' }).click();
  const listed = await opened.locator('#overview details[open] .tile').allInnerTexts();
  assert.ok(listed.length > 4 && listed.every((name) => sources.includes(name)), `${hosts} ${listed}`);
  await opened.locator('#overview .tile:visible', { hasText: 'worker' }).click();
  assert.ok(await opened.locator('#drawing').isVisible());
  assert.equal(await opened.locator('#drawing .found').getAttribute('data-id'), 'node.worker');
  await finish();
}

/** What is chosen and shown survives a reload, and what the template no longer has does no harm. */
async function livesInItsAddress() {
  const { opened, finish } = await open();
  await choose(opened, 'stack', 'cluster');
  await choose(opened, 'live', 'true');
  const states = async () => (await cases(opened)).map(({ name, state }) => `${name} ${state}`);
  const [before, line] = [await states(), await opened.locator('#command-line').innerText()];
  await opened.locator('nav a', { hasText: 'Matrix' }).click();
  await opened.reload();
  assert.deepEqual(await states(), before);
  assert.equal(await opened.locator('#command-line').innerText(), line);
  await opened.locator('[data-mode=compare]').click();
  await opened.locator('#view-second').selectOption({ label: 'edge' });
  const added = await nodes(opened, 'added');
  await opened.reload();
  assert.equal(await opened.locator('[data-mode=compare]').getAttribute('aria-checked'), 'true');
  assert.deepEqual(await nodes(opened, 'added'), added);
  await opened.goto(`${pathToFileURL(page).href}#i.stack=nowhere&i.nothing=1&view=odd&first=none`);
  await opened.reload();
  assert.ok((await cases(opened)).every(({ state }) => state !== 'chosen'));
  // Together these are impossible, so neither is taken.
  await opened.goto(`${pathToFileURL(page).href}#i.stack=laptop&i.live=true`);
  await opened.reload();
  assert.ok((await cases(opened)).every(({ state }) => state !== 'chosen'));
  await finish();
}

async function countsWhatIsLeft() {
  for (const [of, file, choices] of [[template, page, [['stack', 'cluster'], ['live', 'true']]], [small, smallPage, [['safe', 'true']]]]) {
    const { opened, finish } = await open({}, file);
    const chosen = {};
    const isCounted = async () => {
      await opened.waitForFunction(() => !document.querySelector('#left').textContent.includes('counting'));
      const { count } = run('variants', of, '--count', ...flags(chosen));
      assert.match(await opened.locator('#left').innerText(), new RegExp(`^${count} variants? left$`), JSON.stringify(chosen));
    };
    await isCounted();
    for (const [input, value] of choices) {
      await press(opened, input, value);
      chosen[input] = value;
      await isCounted();
    }
    await finish();
  }
}

/** The file of inputs stands for the same variant as the command. */
async function savesInputs() {
  for (const [of, file, preset] of [[template, page, 'prod'], [small, smallPage, 'big']]) {
    const { opened, finish } = await open({}, file);
    await opened.locator('#load').selectOption({ label: preset });
    const [download] = await Promise.all([opened.waitForEvent('download'), opened.locator('#save').click()]);
    const saved = `${file}.${download.suggestedFilename()}`;
    await download.saveAs(saved);
    const said = execFileSync(cuvee, ['-q', 'resolve', of, '--inputs', saved], { encoding: 'utf8' });
    assert.equal(said, execFileSync(cuvee, ['-q', 'resolve', of, '--preset', preset], { encoding: 'utf8' }));
    await finish();
  }
}

/** Names are those of their authors, and what is wrong with presets is said once. */
async function saysWhatAuthorsWrote() {
  const { opened, finish } = await open();
  const names = await opened.locator('.matrix tbody:not(.input-rows) .row-name .link').allInnerTexts();
  assert.ok(names.includes('lib/monitoring.yaml') && names.includes('domain (1 of 2)'), names.join());
  assert.ok(names.every((name) => !name.includes('@')), names.join());
  await opened.locator('[data-mode=compare]').click();
  assert.ok((await nodes(opened, 'added')).length + (await nodes(opened, 'removed')).length > 0, 'two that differ');
  await finish();
  const other = await open({}, smallPage);
  const told = await other.opened.locator('#rejected .notice').allInnerTexts();
  assert.equal(told.length, 2, told.join());
  assert.match(told[0], /^unknown is rejected\s+the preset unknown assigns release a value that does not fit/);
  await other.finish();
}

/** Also where there is little to show, nothing is shown that is not meant. */
async function showsNothingElse() {
  for (const file of [page, smallPage, fixedPage]) {
    const { opened, finish } = await open({}, file);
    const stray = await opened.evaluate(() => [...document.querySelectorAll('#configurator, main > *, .panel, .tools')].flatMap((place) => [...place.childNodes]).filter((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim()).map((node) => node.textContent));
    assert.deepEqual(stray, [], file);
    assert.ok((await opened.locator('.matrix tbody tr').count()) > 0, file);
    await finish();
  }
  const { opened, finish } = await open({}, fixedPage);
  assert.match(await opened.locator('#configure').innerText(), /nothing to choose/);
  await finish();
}

/** The steps on the page, as the command says them in a line. */
const steps = (opened) =>
  opened.evaluate(() =>
    [...document.querySelectorAll('#plan-lanes .step')].map((card) => {
      const [wave, element, operation, implementation, place, after] = card.dataset.step.split('\n');
      const where = place === '' || /^(by the orchestrator|nothing to run)$/.test(implementation) ? '' : `on ${place}`;
      // What runs nothing has a column in the page, but no round in the text.
      const round = implementation === 'nothing to run' ? '' : wave;
      return [round, element, operation, implementation, where, after].filter(Boolean).join(' ');
    }),
  );

/** What is planned for presets, and between them, is what the command says that stands below. */
async function plans() {
  const { opened, finish } = await open();
  await plansWhatItSays(opened);
  await opened.locator('[data-mode=preset]').click();
  for (const preset of ['dev', 'prod', 'edge']) {
    await opened.locator('#view-first').selectOption({ label: preset });
    await plansWhatItSays(opened);
    assert.ok((await steps(opened)).length > 5, preset);
  }
  await opened.locator('[data-mode=compare]').click();
  for (const [from, to] of [['dev', 'prod'], ['prod', 'edge'], ['prod', 'defaults']]) {
    await opened.locator('#view-first').selectOption({ label: from });
    await opened.locator('#view-second').selectOption({ label: to });
    const said = await plansWhatItSays(opened);
    await opened.evaluate(() => document.querySelectorAll('#plan-changes details').forEach((part) => (part.open = true)));
    const changed = await opened.locator('#plan-changes li').allInnerTexts();
    const lines = said.split('\n').filter((line) => /^\S+\.\S+  /.test(line));
    assert.deepEqual(changed.map((line) => line.split(' ')[0]).sort(), lines.map((line) => line.split(' ')[0]).sort(), said);
  }
  await opened.locator('[data-mode=mine]').click();
  await press(opened, 'stack', 'box');
  assert.match(await opened.locator('#plan-command').innerText(), /^cuvee plan .* -i stack=box/);
  await plansWhatItSays(opened);
  assert.ok((await steps(opened)).length > 5);
  await finish();
  await comparesWithWhatIsChosen();
  // Where there is none, the page says why, as the command does, and with which flags there is one.
  const other = await open({}, plansPage);
  await press(other.opened, 'kind', 'quick');
  for (const [input, why, remedy] of [['second', /wait for each other/, / --ignore \S+/], ['mounted', /as a whole/, / --managed \S+/]]) {
    await press(other.opened, input, 'true');
    await hasNoPlan(other.opened, why, remedy);
    await press(other.opened, input, 'open');
    await plansWhatItSays(other.opened);
  }
  await other.opened.locator('[data-mode=preset]').click();
  for (const [preset, why, remedy] of [['ring', /wait for each other/, / --ignore \S+/], ['stuck', /as a whole/, / --managed \S+/]]) {
    await other.opened.locator('#view-first').selectOption({ label: preset });
    await hasNoPlan(other.opened, why, remedy);
  }
  await other.finish();
}

/** The page says of a plan what the command says without the flags that help. */
async function hasNoPlan(opened, why, remedy) {
  assert.match(await opened.locator('#plan-errors').innerText(), why);
  assert.equal(await opened.locator('#plan-note').innerText(), 'The command plans it all the same.');
  const line = await opened.locator('#plan-command').innerText();
  const plan = (line) => spawnSync('sh', ['-c', `"$0" ${line.replace(/^cuvee /, '')}`, cuvee], { encoding: 'utf8' });
  const told = plan(line.replaceAll(new RegExp(remedy, 'g'), ''));
  assert.equal(told.status, 1, line);
  const messages = told.stderr.split('\n').map((line) => line.match(/^error\[[\w-]+\]: (.*)$/)?.[1]).filter(Boolean);
  const shown = await opened.evaluate(() => [...document.querySelectorAll('#plan-errors li')].map((item) => item.textContent));
  assert.equal(shown.length, messages.length, told.stderr);
  messages.forEach((message) => assert.ok(shown.some((text) => text.startsWith(message.replaceAll('`', ''))), `${message} ${shown}`));
  assert.match(line, remedy);
  assert.equal(plan(line).status, 0, line);
  assert.deepEqual(await steps(opened), []);
}

/** What leads to what is chosen is in the page where that is a preset; else the command says it of the inputs that are saved. */
async function comparesWithWhatIsChosen() {
  const { opened, finish } = await open();
  await press(opened, 'stack', 'box');
  await opened.locator('[data-mode=compare]').click();
  await opened.locator('#view-first').selectOption({ label: 'prod' });
  await opened.locator('#view-second').selectOption({ label: 'your configuration' });
  const planned = async () => {
    const [download] = await Promise.all([opened.waitForEvent('download'), opened.locator('#save').click()]);
    await download.saveAs(join(dirname(page), download.suggestedFilename()));
    const line = await opened.locator('#plan-command').innerText();
    return execFileSync('sh', ['-c', `"$0" -q ${line.replace(/^cuvee /, '')}`, cuvee], { encoding: 'utf8', cwd: dirname(page) });
  };
  assert.match(await opened.locator('#plan-note').innerText(), /for presets only: save the inputs as inputs\.yaml, and the command works it out/);
  assert.match(await planned(), /^update: .*\n(.*\n)*node\.shop +recreated.*requirement\.host\.node cluster -> box/);
  assert.deepEqual(await steps(opened), []);
  await opened.locator('#load').selectOption({ label: 'edge' });
  const said = await planned();
  assert.ok(said.startsWith(`${await opened.locator('#plan-head').innerText()}\n`), said);
  assert.ok((await steps(opened)).length > 5);
  await opened.locator('#view-first').selectOption({ label: 'edge' });
  assert.match(await opened.locator('#plan-note').innerText(), /both are the same/);
  await finish();
}

async function fitsEveryScreen() {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [360, 390, 768, 1280]) {
      const { opened, finish } = await open({ colorScheme, viewport: { width, height: 800 } });
      const [content, ground] = await opened.evaluate(() => [document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor]);
      assert.ok(content <= width, `${width} px: the page is ${content} px wide`);
      const lightness = ground.match(/\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3;
      assert.equal(lightness < 128, colorScheme === 'dark', ground);
      await opened.locator('#theme').click();
      await finish();
    }
  }
}

try {
  for (const test of [propagates, explainsLocks, worksByKeyboard, comparesPresets, loadsAndCompletes, everyChoiceResolves, keepsWhatTheCommandFixes, zoomsByMouse, pinches, typesValues, keepsConsequencesInView, commandsReproducePresets, findsInLargeTopologies, listsByHost, showsAnInstance, livesInItsAddress, countsWhatIsLeft, savesInputs, saysWhatAuthorsWrote, showsNothingElse, plans, fitsEveryScreen]) {
    await test();
    console.log(`${test.name}: ok`);
  }
  assert.ok(withoutYaml.every((line) => /visitors=4242/.test(line)), withoutYaml.join('\n'));
} finally {
  await browser.close();
}
