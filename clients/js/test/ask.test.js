import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ConflictError, errorFor, NotFoundError, Rethread, RunActiveError } from 'rethread';

import { Server, settled } from './fake-server.js';

const event = (seq, role, status, ...parts) => ({
  id: `e${seq}`,
  seq,
  status,
  invocation_id: 'r1',
  content: { role, parts },
});
const thought = { text: 'hm', thought: true };
const working = {
  status: 'in_progress',
  items: [event(1, 'user', 'completed', { text: 'Well?' })],
  cursor: '0.1.0',
  run: { id: 'r1' },
};

// A client whose session has the run r1, and what it asked of the API.
function begin() {
  const server = new Server();
  const asked = [];
  const run = { id: 'r1', status: 'in_progress', ended_time: null };
  server.thread = working;
  const fetch = async (url, init = {}) => {
    const path = new URL(url).pathname.replace('/api/v1/sessions/s', '');
    asked.push(`${init.method ?? 'GET'} ${path}`);
    if (init.method === 'POST') {
      asked.push(init.body);
      const body = { data: working, meta: { next_cursor: null }, run_id: 'r1' };
      return new Response(JSON.stringify(body), { status: 202 });
    }
    return new Response(
      JSON.stringify({ data: path === '/thread' ? server.thread : run, meta: {} }),
    );
  };
  const { WebSocket, window, document } = server;
  const client = new Rethread({
    url: 'http://here',
    wsUrl: 'ws://here',
    token: 't',
    fetch,
    environment: { WebSocket, window, document },
  });
  return { server, client, run, asked };
}

const message = (type, cursor, prev, more) => ({ type, session_id: 's', cursor, prev, ...more });

test('ask streams the answer, and returns it with the run', async () => {
  const { server, client, run, asked } = begin();
  const pieces = [];
  const options = { request: { agent: 'math' }, onText: (piece) => pieces.push(piece) };
  const answer = client.ask('s', 'Well?', options);
  await server.open();
  const { socket } = server;
  await settled();
  const item = (status, text) => ({ item: event(2, 'model', status, thought, { text }) });
  socket.receive(
    message('item.snapshot', '0.2.0', '0.1.0', { offset: 0, ...item('in_progress', 'It') }),
  );
  await settled();
  const delta = { item_id: 'e2', offset: 1, delta: { part: 1, text: ' is 4.' } };
  socket.receive(message('item.delta', '0.2.1', '0.2.0', delta));
  await settled();
  socket.receive(message('item.completed', '0.2.2', '0.2.1', item('completed', 'It is 4.')));
  Object.assign(run, { status: 'completed', ended_time: 7 });
  socket.receive(
    message('thread.status', '0.3.0', '0.2.2', { status: 'idle', run_id: null, error: null }),
  );
  assert.deepEqual(await answer, { text: 'It is 4.', run });
  assert.deepEqual(pieces, ['It', ' is 4.']);
  assert.deepEqual(asked.slice(0, 2), ['POST /runs', '{"agent":"math","input":"Well?"}']);
  assert.ok(socket.closed);
});

test('wait returns a run that was over', async () => {
  const { server, client, run } = begin();
  server.thread = { ...working, status: 'idle', run: null };
  Object.assign(run, { status: 'failed', ended_time: 7 });
  const waited = client.runs.wait('s', 'r1');
  await server.open();
  assert.deepEqual(await waited, run);
});

test('a stream ends with its signal, and when the client is closed', async () => {
  const { server, client } = begin();
  const controller = new AbortController();
  const stream = client.runs.stream('s', 'r1', { signal: controller.signal });
  const first = stream.next();
  await server.open();
  controller.abort(new Error('enough'));
  await assert.rejects(first, /enough/);
  const other = client.runs.stream('s', 'r1').next();
  await server.open();
  client.close();
  await assert.rejects(other, /closed/);
});

test('an error is of the class of its code, or else of its status', () => {
  const taken = errorFor(409, { problem: { code: 'run_active', run_id: 'r1' } });
  assert.ok(taken instanceof RunActiveError && taken instanceof ConflictError);
  assert.equal(taken.runId, 'r1');
  for (const code of ['of_a_newer_server', 'constructor', '']) {
    assert.equal(errorFor(409, { problem: { code } }).constructor, ConflictError);
  }
  const gateway = errorFor(404, { problem: { message: 'Not Found' } });
  assert.ok(gateway instanceof NotFoundError);
  assert.equal(gateway.code, 'route_not_found');
});
