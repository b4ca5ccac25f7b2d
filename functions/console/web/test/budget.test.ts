// @vitest-environment node
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterEach, expect, test } from 'vitest';
import { budget, FIRST_SCREEN, firstScreen } from '../budget';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

// Builds a page of these files; returns the folder that it is built into.
async function page(files: Record<string, string>): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'budget-'));
  folders.push(root);
  mkdirSync(join(root, 'public'));
  writeFileSync(join(root, 'index.html'), '<script type="module" src="/main.js"></script>');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const plugins = [budget('/console/')];
  await build({ root, base: '/console/', configFile: false, logLevel: 'silent', plugins });
  return join(root, 'dist');
}

// A module that cannot be compressed to fewer bytes.
const script = (bytes: number): string =>
  `export default '${randomBytes(bytes).toString('base64')}'`;

test('the first screen is what is imported at once, and not what is imported later', async () => {
  const dist = await page({
    'main.js': "import './main.css'; import a from './a'; console.log(a, () => import('./later'))",
    'main.css': 'a { color: red }',
    'a.js': 'export default 1',
    'later.js': script(FIRST_SCREEN),
  });
  const files = Object.entries(firstScreen(dist, '/console/'));
  expect(files.map(([name]) => name.replace(/-.+\./, '.')).sort()).toEqual([
    'assets/index.css',
    'assets/index.js',
  ]);
  expect(files.every(([, size]) => size > 20 && size < 2000)).toBe(true);
});

test('a part that a later one shares with the first screen counts', async () => {
  const dist = await page({
    'main.js': "import a from './a'; console.log(a, () => import('./later'))",
    'a.js': script(3000),
    'later.js': "import a from './a'; console.log(a)",
  });
  const sum = Object.values(firstScreen(dist, '/console/')).reduce((a, b) => a + b, 0);
  expect(sum).toBeGreaterThan(3000);
});

test('a build over the budget fails, and says by how much', async () => {
  const files = {
    'main.js': "import a from './a'; console.log(a)",
    'a.js': script(FIRST_SCREEN),
  };
  await expect(page(files)).rejects.toThrow(`of ${FIRST_SCREEN} bytes compressed`);
});
