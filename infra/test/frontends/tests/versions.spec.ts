// What docs/frontends.md says of packages, and what the tests rely on.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { installed } from '../support/documented.ts';
import { OFFLINE } from '../support/runtime.ts';

const versionOf = (name: string): string => {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
};

test('the documented versions are those that are tested', async () => {
  const documented = await installed();
  expect(documented.length).toBeGreaterThan(9);
  for (const [name, version] of documented) {
    const folder = name === '@ag-ui/client' && version === '1.0.0' ? 'ag-ui-client-1.0' : name;
    expect(`${name}@${versionOf(folder)}`).toBe(`${name}@${version}`);
  }
});

test('a connection of the runtime to another machine is refused and named', () => {
  const program = "fetch('http://192.0.2.1/').catch((error) => console.log(error.message))";
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', OFFLINE, '-e', program]);
  expect(String(stderr)).toContain('outside: 192.0.2.1');
  expect(String(stdout)).toContain('fetch failed');
});
