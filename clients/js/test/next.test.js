// docs/nextjs.md: its page renders on a server, and its route returns a token.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const text = readFileSync(new URL('../../../docs/nextjs.md', import.meta.url), 'utf8');
const shown = new Map(
  [...text.matchAll(/```jsx?\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(([, name, code]) => [name, code]),
);

/** Bundles a file of the page and returns its exports. */
async function load(name, contents = '') {
  const { outputFiles } = await build({
    stdin: {
      contents: `${shown.get(name)}\n${contents}`,
      loader: 'jsx',
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    jsx: 'automatic',
  });
  const module = { exports: {} };
  new Function('module', 'exports', 'require', outputFiles[0].text)(
    module,
    module.exports,
    createRequire(import.meta.url),
  );
  return module.exports;
}

test('docs/nextjs.md shows two files', () => {
  assert.deepEqual([...shown.keys()], ['app/token/route.js', 'app/page.jsx']);
});

test('the page renders on a server without a connection', async () => {
  const { render } = await load(
    'app/page.jsx',
    `import { renderToString } from 'react-dom/server'; export const render = () => renderToString(<Page />);`,
  );
  assert.equal(render(), '<button>New chat</button>');
});

test('the route returns a token that no cache keeps', async (t) => {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push([request.method, request.url, JSON.parse(body)]);
    response.end('{"token": "t-1", "expires": 1}');
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => server.close());
  process.env.RETHREAD_URL = `http://127.0.0.1:${server.address().port}`;
  const { GET } = await load('app/token/route.js');
  const answer = await GET();
  assert.deepEqual(await answer.json(), { token: 't-1' });
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.deepEqual(asked, [['POST', '/dev/token', { user_id: 'alice' }]]);
});
