// Finds the command that serves. Knows nothing of the editor, so that tests need none.

import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import * as path from 'node:path';

/** The version of the requests that this extension makes beside those of the protocol. */
export const PROTOCOL = 2;

/** A setting as an editor knows it: from where it has which value. */
export interface Inspected {
  globalValue?: string;
  workspaceValue?: string;
  workspaceFolderValue?: string;
}

/**
 * The setting that names a program. A workspace that is not trusted has no say in what is run, whatever the editor
 * itself makes of it.
 */
export function pathSetting(inspected: Inspected | undefined, isTrusted: boolean): string {
  const { globalValue, workspaceValue, workspaceFolderValue } = inspected ?? {};
  return (isTrusted ? (workspaceFolderValue ?? workspaceValue) : undefined) ?? globalValue ?? '';
}

/** A command, and where it is from. */
export interface Command {
  path: string;
  from: 'setting' | 'PATH' | 'extension';
}

/** Where the command may be. */
export interface Places {
  /** The setting; empty where there is none. */
  setting: string;
  /** The directories of `PATH`. */
  directories: string[];
  /** The directory of the extension. */
  extension: string;
  platform: NodeJS.Platform;
}

/**
 * The command: that of the setting, else the first in `PATH`, else the one that came along. A setting that
 * leads nowhere is not passed over, since another command would be a surprise.
 */
export function find(places: Places, isProgram: (file: string) => boolean = runs): Command | string {
  const name = places.platform === 'win32' ? 'cuvee.exe' : 'cuvee';
  if (places.setting !== '') {
    return isProgram(places.setting)
      ? { path: places.setting, from: 'setting' }
      : `the setting cuvee.path is ${places.setting}, which is no program`;
  }
  // A relative directory would be one of whatever folder is open.
  const absolute = places.directories.filter((directory) => path.isAbsolute(directory));
  const there = absolute.map((directory) => path.join(directory, name)).find(isProgram);
  if (there !== undefined) {
    return { path: there, from: 'PATH' };
  }
  const brought = path.join(places.extension, 'bin', name);
  return isProgram(brought)
    ? { path: brought, from: 'extension' }
    : 'there is no cuvee in PATH, and none came along: install it, or set cuvee.path';
}

function runs(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** What a command says that it is, such as `cuvee 0.1.0`; why it says nothing, otherwise. */
export function version(command: Command): Promise<{ says: string } | { why: string }> {
  return new Promise((resolve) => {
    execFile(command.path, ['--version'], { timeout: 10_000 }, (error, stdout) => {
      const says = stdout.trim();
      const isIt = error === null && /^cuvee \d+\.\d+\.\d+/.test(says);
      resolve(isIt ? { says } : { why: `${command.path} is not cuvee: ${error?.message ?? says}` });
    });
  });
}

/** Why a server does not fit, if it does not. */
export function unfit(experimental: unknown): string | undefined {
  const spoken = (experimental as { cuvee?: unknown } | undefined)?.cuvee;
  if (spoken === PROTOCOL) {
    return undefined;
  }
  const older = typeof spoken !== 'number' || spoken < PROTOCOL;
  return `this extension and cuvee do not understand each other: update ${older ? 'cuvee' : 'the extension'}`;
}

/** Whether a text is one of TOSCA, as the server judges it. */
export function isTosca(text: string): boolean {
  return text.includes('tosca_definitions_version');
}

/** A page that shows a picture, and can do nothing else. */
export function page(svg: string, title: string): string {
  const image = Buffer.from(svg).toString('base64');
  const text = title.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:">
<title>${text}</title>
</head>
<body>
<img src="data:image/svg+xml;base64,${image}" alt="${text}">
</body>
</html>
`;
}
