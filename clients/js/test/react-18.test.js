// The tests of the hooks, with React 18.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { build } from 'esbuild';

// Below this folder, so that the bundle finds its packages. React itself is not part of it: only as a
// module of Node.js does it find the timer with which `act` lets a process end.
const folder = await mkdtemp(fileURLToPath(new URL('../node_modules/.react-18-', import.meta.url)));
after(() => rm(folder, { recursive: true }));
const outfile = join(folder, 'react.test.mjs');
const { metafile } = await build({
  entryPoints: [fileURLToPath(new URL('react.test.js', import.meta.url))],
  outfile,
  bundle: true,
  metafile: true,
  format: 'esm',
  platform: 'node',
  alias: { react: 'react-18', 'react-dom': 'react-dom-18' },
  external: ['jsdom', 'react-18'],
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
test('the bundle has React 18, and no other', () => {
  const paths = Object.keys(metafile.inputs);
  assert.ok(paths.some((path) => path.includes('node_modules/react-dom-18/')));
  assert.ok(!paths.some((path) => /node_modules\/react(-dom)?\//.test(path)), paths.join());
});

await import(pathToFileURL(outfile));
