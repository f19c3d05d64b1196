// Bundles the extension, and gathers the licences of what is in it.

import { build } from 'esbuild';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const { metafile } = await build({
  entryPoints: ['src/extension.ts'],
  outfile: 'out/extension.js',
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node18',
  format: 'cjs',
  external: ['vscode'],
  metafile: true,
});
const packages = Object.keys(metafile.inputs).map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
const notice = (directory) => {
  const { name, license } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((it) => /^licen[cs]e/i.test(it));
  if (file === undefined) {
    throw new Error(`${name} has no file with its licence`);
  }
  return `${name} (${license})\n\n${readFileSync(path.join(directory, file), 'utf8').trim()}\n`;
};
const inside = [...new Set(packages.filter((it) => it !== undefined))].sort();
writeFileSync('out/NOTICES.txt', `What is in extension.js beside this project:\n\n${inside.map(notice).join('\n\n')}`);
