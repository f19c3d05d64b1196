import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { find, isTosca, page, pathSetting, type Places, unfit, version } from '../src/server';

const PLACES: Places = { setting: '', directories: ['/usr/bin', '/opt/bin'], extension: '/ext', platform: 'linux' };
const only = (...files: string[]) => (file: string) => files.includes(file);

test('the setting comes before PATH, and that before what came along', () => {
  const all = only('/my/cuvee', '/opt/bin/cuvee', '/ext/bin/cuvee');
  assert.deepEqual(find({ ...PLACES, setting: '/my/cuvee' }, all), { path: '/my/cuvee', from: 'setting' });
  assert.deepEqual(find(PLACES, all), { path: '/opt/bin/cuvee', from: 'PATH' });
  assert.deepEqual(find(PLACES, only('/ext/bin/cuvee')), { path: '/ext/bin/cuvee', from: 'extension' });
  assert.deepEqual(find({ ...PLACES, platform: 'win32' }, only('/ext/bin/cuvee.exe')), { path: '/ext/bin/cuvee.exe', from: 'extension' });
});

test('what is not there is said', () => {
  assert.match(find({ ...PLACES, setting: '/my/cuvee' }, only('/opt/bin/cuvee')) as string, /cuvee\.path is \/my\/cuvee/);
  assert.match(find(PLACES, only()) as string, /install it/);
});

test('a directory of the workspace is no place for programs', () => {
  assert.equal(typeof find({ ...PLACES, directories: ['', '.', 'bin'] }, only('cuvee', 'bin/cuvee')), 'string');
});

test('a command has to say that it is cuvee', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'cuvee-'));
  const program = (name: string, text: string) => {
    const file = path.join(directory, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return { path: file, from: 'PATH' as const };
  };
  assert.deepEqual(await version(program('right', 'echo cuvee 1.2.3')), { says: 'cuvee 1.2.3' });
  assert.match(JSON.stringify(await version(program('other', 'echo wine'))), /is not cuvee: wine/);
  assert.match(JSON.stringify(await version(program('broken', 'exit 3'))), /is not cuvee/);
  assert.match(JSON.stringify(await version({ path: '/nowhere', from: 'PATH' })), /ENOENT/);
});

test('a server of another protocol is refused, and the message says what to update', () => {
  assert.equal(unfit({ cuvee: 2 }), undefined);
  assert.match(unfit(undefined) ?? '', /update cuvee$/);
  assert.match(unfit({ cuvee: 1 }) ?? '', /update cuvee$/);
  assert.match(unfit({ cuvee: 3 }) ?? '', /update the extension$/);
});

test('a workspace that is not trusted names no program', () => {
  const of = { globalValue: '/mine', workspaceValue: '/theirs', workspaceFolderValue: '/folder' };
  assert.equal(pathSetting(of, false), '/mine');
  assert.equal(pathSetting({ workspaceValue: '/theirs', workspaceFolderValue: '/folder' }, false), '');
  assert.equal(pathSetting(of, true), '/folder');
  assert.equal(pathSetting({ ...of, workspaceFolderValue: undefined }, true), '/theirs');
  assert.equal(pathSetting({ globalValue: '/mine' }, true), '/mine');
  assert.equal(pathSetting(undefined, true), '');
  const { capabilities } = JSON.parse(readFileSync('package.json', 'utf8'));
  assert.deepEqual(capabilities.untrustedWorkspaces.restrictedConfigurations, ['cuvee.path']);
});

test('other YAML is left alone', () => {
  assert.equal(isTosca('tosca_definitions_version: tosca_variability_1_0\n'), true);
  assert.equal(isTosca('services: {}\n'), false);
});

test('a drawing can do nothing, whatever is in it', () => {
  const html = page('<svg><script>alert(1)</script></svg>', 'Graph: "<b>');
  assert.doesNotMatch(html, /<script|<b>/);
  assert.match(html, /default-src 'none'; img-src data:"/);
});
