// The package in an edge runtime: its globals, and none of Node.js.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { EdgeVM } from '@edge-runtime/vm';
import { build } from 'esbuild';
import { WebSocket, WebSocketServer } from 'ws';

const item = (seq, text) => ({
  id: `e${seq}`,
  seq,
  invocation_id: 'r',
  author: 'user',
  status: 'completed',
  content: { role: 'user', parts: [{ text }] },
});

/** Answers by the path; the first request is refused, and so is the old token. */
function serve() {
  let requests = 0;
  const seen = {};
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const answer = (status, body) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const { pathname: path, searchParams } = new URL(request.url, 'http://here');
    if (requests++ === 0) return answer(503, {});
    if (request.headers.authorization === 'Bearer old') return answer(401, {});
    if (path.endsWith('/missing')) return answer(404, { detail: 'no' });
    if (path.endsWith('/late')) return undefined;
    if (request.method === 'PATCH') return answer(422, { errors: [{ pointer: '/name' }] });
    if (request.method === 'POST') {
      seen.name = JSON.parse(Buffer.concat(chunks)).name.length;
      return answer(201, { data: { id: 'made' } });
    }
    const thread = {
      session: {},
      status: 'idle',
      items: [item(1, 'one')],
      cursor: '0.1.0',
      run: null,
    };
    if (path.endsWith('/thread')) return answer(200, { data: thread, meta: { next_cursor: null } });
    const last = searchParams.get('cursor') === 'next';
    const data = [{ id: last ? 'b' : 'a' }];
    return answer(200, { data, meta: { next_cursor: last ? null : 'next' } });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (text) => {
      const { request_id } = JSON.parse(text);
      const send = (message) => socket.send(JSON.stringify({ session_id: 's', ...message }));
      send({ type: 'subscribed', request_id });
      send({ type: 'item.snapshot', cursor: '0.2.0', prev: '0.1.0', item: item(2, 'two') });
    });
  });
  return { server, sockets, seen };
}

test('calls and watching work in an edge runtime', async (t) => {
  const { server, sockets, seen } = serve();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('edge-program.js', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'program',
    platform: 'neutral', // refuses imports of Node.js
  });
  const vm = new EdgeVM();
  assert.equal(
    vm.evaluate('typeof process + typeof require + typeof Buffer'),
    'undefined'.repeat(3),
  );
  vm.evaluate(outputFiles[0].text);
  vm.context.use = { url: `http://127.0.0.1:${server.address().port}/api/v1`, WebSocket };
  const out = JSON.parse(await vm.evaluate('program.run(use.url, use.WebSocket)'));
  assert.deepEqual(out, {
    created: 'made',
    ids: ['a', 'b'],
    missing: [true, 'NotFoundError', 404],
    invalid: [true, '/name'],
    late: 'TimeoutError',
    aborted: true,
    live: ['one', 'two'],
    renewed: true,
  });
  assert.equal(seen.name, 5 << 20, 'a large body is sent although it cannot be compressed');
  const open = () => [...sockets.clients].filter(({ readyState }) => readyState === 1);
  while (open().length > 0) await once(open()[0], 'close');
});
