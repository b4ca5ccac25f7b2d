// A process ends by itself once watching was closed: no socket, timer or listener is left.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { WebSocketServer } from 'ws';

const PROGRAM = fileURLToPath(new URL('exit-program.js', import.meta.url));

/** Serves an empty thread, and answers subscriptions; counts the open sockets. */
async function serve() {
  const server = createServer((request, response) => {
    if (request.url.startsWith('/ai-sdk/')) {
      response.setHeader('Content-Type', 'text/event-stream');
      response.write('data: {"type":"start","messageId":"r"}\n\n'); // and no end
      return;
    }
    const data = { session: {}, status: 'idle', items: [], cursor: '0.0.0', run: null };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ data, meta: { next_cursor: null } }));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (text) => {
      const { request_id } = JSON.parse(text);
      socket.send(JSON.stringify({ type: 'subscribed', request_id, session_id: 's' }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, sockets, port: server.address().port };
}

const MOMENTS = [
  'at once',
  'when live',
  'when offline',
  'while a thread is read',
  'while hooks read',
  'while a stream is read',
];
for (const when of MOMENTS) {
  test(`the process ends when watching is closed ${when}`, async (t) => {
    const { server, sockets, port } = await serve();
    t.after(() => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
    });
    const begun = Date.now();
    const child = spawn(process.execPath, [PROGRAM, when, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const [code] = await once(child, 'exit');
    clearTimeout(late);
    assert.equal(code, 0, 'it had to be killed');
    assert.match(said, /^closed (\d+)/);
    t.diagnostic(`ended after ${Date.now() - begun} ms`);
    assert.deepEqual(
      [...sockets.clients].filter(({ readyState }) => readyState === 1),
      [],
    );
  });
}
