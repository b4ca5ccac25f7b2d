// The sizes that README.md states hold, for a bundle of all that an entry exports.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const stated = [...readme.matchAll(/^\| `(rethread[^`]*)` \| ([\d.]+) KB \|/gm)];

test('README.md states the size of each entry', () => {
  assert.deepEqual(
    stated.map(([, entry]) => entry),
    ['rethread', 'rethread/watch', 'rethread/react', 'rethread/ai-sdk', 'rethread/ag-ui'],
  );
});

for (const [, entry, kilobytes] of stated) {
  test(`${entry} has at most ${kilobytes} KB`, async (t) => {
    const { outputFiles } = await build({
      stdin: {
        contents: `export * from '${entry}'`,
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      external: ['@ag-ui/client', 'ai', 'react'],
    });
    const size = gzipSync(outputFiles[0].contents, { level: 9 }).length;
    t.diagnostic(`${size} bytes`);
    assert.ok(size <= kilobytes * 1000, `${size} bytes`);
    assert.ok(size > kilobytes * 900, `${size} bytes: the stated size is too large`);
  });
}
