import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import { backoff, SessionNotFoundError } from 'rethread';
import { Watcher } from 'rethread/watch';

import { advance, Server, settled } from './fake-server.js';

const item = (seq, status, ...parts) => ({
  id: `e${seq}`,
  seq,
  status,
  content: { role: 'model', parts: parts.map((text) => ({ text })) },
});
const snapshot = (seq, status, ...parts) => ({
  type: 'item.snapshot',
  session_id: 's',
  cursor: `0.${seq}.0`,
  prev: `0.${seq - 1}.0`,
  offset: 0,
  item: item(seq, status, ...parts),
});
const rewound = (seq, to) => ({
  type: 'thread.rewound',
  session_id: 's',
  cursor: `1.${seq}.0`,
  prev: `0.${seq - 1}.0`,
  to_seq: to,
  epoch: 1,
});
const delta = (seq, offset, text) => ({
  type: 'item.delta',
  session_id: 's',
  cursor: `0.${seq}.${offset}`,
  prev: `0.${seq}.${offset - 1}`,
  item_id: `e${seq}`,
  offset,
  delta: { part: 0, text },
});

let server;
let watching;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  server = new Server();
});

async function begin() {
  watching = server.watch();
  await server.open();
  server.wantAsked('connect t', 'thread', 'subscribe 0.0.0');
}

// Watches a session of n items with a tail of two.
async function beginAtEnd(n) {
  serve(0, n);
  watching = server.watch({ tail: 2 });
  await server.open();
  server.wantAsked('connect t', 'thread desc 2', `subscribe 0.${n}.0`);
}

// Serves items 1 to n, newest first, in an epoch.
function serve(epoch, n) {
  server.page = (query) => {
    const [asked, before] = (query.get('cursor') ?? `${epoch}/${n + 1}`).split('/').map(Number);
    if (asked !== epoch) return { status: 409 };
    const last = Math.max(1, before - Number(query.get('limit')));
    const items = [];
    for (let seq = before - 1; seq >= last; seq--)
      items.push(item(seq, 'completed', `text ${seq}`));
    const data = { status: 'idle', items, cursor: `${epoch}.${n}.0`, run: null };
    return {
      status: server.status,
      data,
      meta: { next_cursor: last > 1 ? `${epoch}/${last}` : null },
    };
  };
}

test('shows each change of a session', async () => {
  await begin();
  server.socket.receive(snapshot(1, 'completed', 'hi'));
  server.socket.receive(snapshot(2, 'in_progress'));
  server.socket.receive(delta(2, 1, 'Hello, '));
  server.socket.receive(delta(2, 2, 'world'));
  server.wantTexts('hi', 'Hello, world');
  assert.equal(
    server.shows.at(-1).items[0],
    server.shows.at(-2).items[0],
    'an unchanged item stays the same object',
  );
  watching.close();
  assert.ok(server.socket.closed);
  server.socket.receive(snapshot(3, 'completed', 'late'));
  server.wantTexts('hi', 'Hello, world');
});

test('rethread/watch does the same with one address, until it is closed', async () => {
  server.Client = Watcher;
  server.options = { wsUrl: undefined };
  server.watch();
  await server.open();
  server.wantAsked('addresses', 'thread', 'connect t', 'subscribe 0.0.0');
  server.socket.receive(snapshot(1, 'completed', 'Hello'));
  server.wantTexts('Hello');
  server.client.watch('other', { onChange() {} });
  await settled();
  server.wantAsked('connect t', 'thread'); // the addresses are known
  server.client.close();
  assert.ok(server.sockets.every(({ closed }) => closed));
  assert.deepEqual(server.ends, []);
});

test('shows up to which position the status is known', async () => {
  const known = () => server.shows.map(({ status, status_seq }) => `${status} ${status_seq}`);
  const status = (seq, more) => ({
    type: 'thread.status',
    session_id: 's',
    cursor: `0.${seq}.0`,
    prev: `0.${seq}.0`,
    ...more,
  });
  await begin();
  server.socket.receive(snapshot(1, 'completed', 'question'));
  server.socket.receive(status(1, { status: 'in_progress', run_id: 'r' }));
  server.socket.receive(snapshot(2, 'completed', 'answer'));
  server.socket.receive(status(3, { prev: '0.2.0', status: 'idle', run_id: 'r' }));
  server.socket.receive(snapshot(4, 'completed', 'question'));
  server.socket.receive(status(5, { prev: '0.4.0', status: 'idle' }));
  server.socket.receive(status(5, { status: 'idle' }));
  const want = ['idle 0', 'idle 0', 'in_progress 1', 'in_progress 1', 'idle 3', 'idle 3', 'idle 5'];
  assert.deepEqual(known(), want);
  watching.close();
});

test('shows the queued inputs, the newest version whenever it arrives', async () => {
  const waits = (id) => ({ run_id: id, agent: 'a', input: [{ author: 'user' }], queued_time: 1 });
  const queue = (version, ...queued) => ({
    type: 'thread.queue',
    session_id: 's',
    cursor: '0.7.0',
    prev: '0.7.0',
    queue_version: version,
    queued,
  });
  const shown = () => server.shows.at(-1);
  await begin();
  assert.deepEqual([shown().queued, shown().queue_version], [[], 0]);
  server.socket.receive(queue(2, waits('a'), waits('b')));
  assert.deepEqual([shown().queued, shown().queue_version], [[waits('a'), waits('b')], 2]);
  const { queued } = shown();
  server.socket.receive(snapshot(1, 'completed', 'hi'));
  assert.equal(shown().queued, queued, 'an unchanged list stays the same object');
  server.socket.receive(queue(1, waits('a')));
  assert.equal(shown().queued, queued);

  server.thread = { ...server.thread, cursor: '0.1.0', queued: [waits('b')], queue_version: 3 };
  server.socket.receive({ ...queue(3, { ...waits('b'), input: undefined }), truncated: true });
  await settled();
  server.wantAsked('thread');
  assert.deepEqual([shown().queued, shown().queue_version], [[waits('b')], 3]);
  server.socket.receive({ ...queue(3, { ...waits('b'), input: undefined }), truncated: true });
  await settled();
  server.wantAsked();
  await advance(60_000);
  server.wantAsked();

  server.socket.receive({
    type: 'thread.deleted',
    session_id: 's',
    cursor: '0.1.0',
    prev: '0.1.0',
  });
  assert.deepEqual(shown().queued, []);
});

test('subscribes again a second after a message was lost', async () => {
  await begin();
  server.socket.receive(snapshot(2, 'completed', 'ahead'));
  await advance(999);
  server.wantAsked();
  await advance(1);
  server.wantAsked('subscribe 0.0.0');
  server.answer('subscribed');
  server.socket.receive(snapshot(1, 'completed', 'missing'));
  server.wantTexts('missing', 'ahead');
  watching.close();
});

test('reconnects and continues from its cursor', async () => {
  await begin();
  server.socket.receive(snapshot(1, 'completed', 'hi'));
  server.socket.dispatchEvent(new Event('close'));
  await advance(300);
  await server.open();
  server.wantAsked('connect t', 'subscribe 0.1.0');
  watching.close();
});

test('on wake-up checks the connection and reconnects at once', async () => {
  await begin();
  server.window.dispatchEvent(new Event('online'));
  server.wantAsked('ping');
  await advance(10_000);
  assert.ok(server.socket.closed, 'the ping was not answered');
  server.document.dispatchEvent(new Event('visibilitychange'));
  await server.open();
  server.wantAsked('connect t', 'subscribe 0.0.0');
  watching.close();
});

test('keeps the connection alive with pings and renews it without a gap', async () => {
  await begin();
  const first = server.socket;
  for (let minute = 0; minute < 110; minute += 5) {
    await advance(5 * 60_000);
    if (server.socket === first) server.answer('pong');
  }
  assert.ok(!first.closed);
  const asked = server.asked.splice(0).filter((what) => what !== 'ping');
  assert.deepEqual(asked, ['connect t']);
  await server.open();
  server.wantAsked('subscribe 0.0.0');
  await advance(30_000);
  assert.ok(first.closed && !server.socket.closed);
  watching.close();
});

test('reconnects when the token has expired', async () => {
  await begin();
  server.answer('error', { status: 401 });
  await advance(300);
  await server.open();
  server.wantAsked('connect t', 'subscribe 0.0.0');
  watching.close();
});

test('reads the thread on a reload', async () => {
  await begin();
  server.thread = {
    status: 'failed',
    items: [item(1, 'completed', 'back')],
    cursor: '2.9.0',
    run: { id: 'r', error: { code: 'x' }, on_failed: 'keep' },
  };
  server.socket.receive({
    type: 'thread.reload',
    session_id: 's',
    cursor: '2.9.0',
    prev: '2.9.0',
    reason: 'history_changed',
  });
  await settled();
  server.wantAsked('thread');
  server.wantTexts('back');
  assert.deepEqual(
    { ...server.shows.at(-1), items: [] },
    {
      items: [],
      status: 'failed',
      run_id: 'r',
      error: { code: 'x' },
      kept: true,
      status_seq: 9,
      queued: [],
      queue_version: 0,
      epoch: 2,
      deleted: false,
      has_older: false,
    },
  );
  watching.close();
});

for (const status of [403, 404]) {
  test(`ends when the thread is refused with ${status}`, async () => {
    server.status = status;
    server.watch();
    await settled();
    assert.deepEqual(server.ends, [status]);
  });
  test(`ends when a subscription is refused with ${status}`, async () => {
    watching = server.watch();
    await settled();
    server.socket.dispatchEvent(new Event('open'));
    server.answer('error', { status });
    assert.deepEqual(server.ends, [status]);
  });
}

test('a refused subscription is an error of the class of its code', async () => {
  const ends = [];
  server.watch({ onEnd: (error) => ends.push(error) });
  await settled();
  server.socket.dispatchEvent(new Event('open'));
  server.answer('error', { status: 404, code: 'session_not_found', title: 'T', detail: 'D' });
  assert.ok(ends[0] instanceof SessionNotFoundError);
  const { code, title, detail } = ends[0];
  assert.deepEqual({ code, title, detail }, { code: 'session_not_found', title: 'T', detail: 'D' });
});

test('retries after other errors', async () => {
  server.status = 503;
  watching = server.watch();
  await settled();
  server.wantAsked('connect t', 'thread');
  server.status = 200;
  await advance(300);
  await server.open();
  server.wantAsked('thread', 'subscribe 0.0.0');
  server.answer('error', { status: 500 });
  await advance(10_000);
  assert.deepEqual(server.ends, []);
  watching.close();
});

test('ends when the session is deleted', async () => {
  await begin();
  server.socket.receive({
    type: 'thread.deleted',
    session_id: 's',
    cursor: '0.0.0',
    prev: '0.0.0',
  });
  assert.deepEqual(server.ends, [410]);
  assert.ok(server.shows.at(-1).deleted && server.socket.closed);
});

test('with a tail shows the end first and loads older items on demand', async () => {
  await beginAtEnd(5);
  server.wantTexts('text 4', 'text 5');
  assert.ok(server.shows.at(-1).has_older);
  await Promise.all([watching.older(), watching.older()]);
  server.wantAsked('thread desc 2 0/4');
  server.wantTexts('text 2', 'text 3', 'text 4', 'text 5');
  assert.equal(
    server.shows.at(-1).items[2],
    server.shows.at(-2).items[0],
    'a held item stays the same object',
  );
  await watching.older();
  server.wantTexts('text 1', 'text 2', 'text 3', 'text 4', 'text 5');
  assert.ok(!server.shows.at(-1).has_older);
  server.asked = [];
  await watching.older();
  server.wantAsked();
  watching.close();
});

test('loads as many older items at a time as it is asked for', async () => {
  await beginAtEnd(5);
  await watching.older(3);
  server.wantAsked('thread desc 3 0/4');
  server.wantTexts('text 1', 'text 2', 'text 3', 'text 4', 'text 5');
  watching.close();
});

test('ignores messages about items before those held', async () => {
  await beginAtEnd(5);
  const shown = server.shows.length;
  server.socket.receive(snapshot(2, 'in_progress', 'old'));
  server.socket.receive(delta(2, 1, 'more'));
  await advance(60_000);
  server.wantAsked();
  assert.equal(server.shows.length, shown);
  watching.close();
});

test('shows a rewind that leaves held items at once, and still loads older items', async () => {
  await beginAtEnd(5);
  serve(1, 4);
  server.socket.receive(rewound(6, 4));
  server.wantTexts('text 4');
  assert.ok(server.shows.at(-1).has_older);
  server.wantAsked();
  await watching.older();
  server.wantAsked('thread desc 2', 'subscribe 1.4.0', 'thread desc 2 1/3');
  server.wantTexts('text 1', 'text 2', 'text 3', 'text 4');
  watching.close();
});

test('reads the end again after a rewind to before the held items', async () => {
  await beginAtEnd(5);
  serve(1, 3);
  server.socket.receive(rewound(6, 3));
  await settled();
  server.wantAsked('thread desc 2');
  server.wantTexts('text 2', 'text 3');
  watching.close();
});

test('reads the end again if older items meet a rewind it has not received', async () => {
  await beginAtEnd(5);
  serve(1, 4);
  await watching.older();
  assert.deepEqual(server.asked.splice(0, 2), ['thread desc 2 0/4', 'thread desc 2']);
  server.wantTexts('text 1', 'text 2', 'text 3', 'text 4');
  watching.close();
});

test('a reload during a read leads to another read, and the subscription goes on', async () => {
  await begin();
  const threads = [1, 2].map((epoch) => ({
    status: 'idle',
    items: [item(1, 'completed', `epoch ${epoch}`)],
    cursor: `${epoch}.4.0`,
    run: null,
  }));
  server.page = () => ({ status: 200, data: threads.shift(), meta: { next_cursor: null } });
  for (const cursor of ['1.4.0', '2.4.0']) {
    const reload = { type: 'thread.reload', session_id: 's', reason: 'history_changed' };
    server.socket.receive({ ...reload, cursor, prev: cursor });
  }
  await settled();
  await advance(1000); // frequent reads are delayed
  server.wantAsked('thread', 'thread');
  server.wantTexts('epoch 2');
  const next = { ...snapshot(5, 'completed', 'next'), cursor: '2.5.0', prev: '2.4.0' };
  server.socket.receive(next);
  server.wantTexts('epoch 2', 'next');
  server.wantAsked();
  watching.close();
});

test('reads as many items on a reload as were held', async () => {
  await beginAtEnd(9);
  await watching.older();
  serve(1, 9);
  server.asked = [];
  server.socket.receive({
    type: 'thread.reload',
    session_id: 's',
    cursor: '1.9.0',
    prev: '1.9.0',
    reason: 'history_changed',
  });
  await settled();
  server.wantAsked('thread desc 4');
  server.wantTexts('text 6', 'text 7', 'text 8', 'text 9');
  watching.close();
});

test('older() can be called again after it failed', async () => {
  await beginAtEnd(5);
  server.status = 503;
  await assert.rejects(watching.older(), { status: 503 });
  server.status = 200;
  await watching.older();
  server.wantTexts('text 2', 'text 3', 'text 4', 'text 5');
  watching.close();
});

test('close() resolves a pending older()', async () => {
  await beginAtEnd(5);
  serve(1, 4);
  server.status = 503;
  server.socket.receive(rewound(6, 4));
  const older = watching.older();
  await settled();
  watching.close();
  await older;
});

test('reports the state of the connection', async () => {
  await begin();
  assert.deepEqual(server.connections, ['live']);
  server.socket.dispatchEvent(new Event('close'));
  assert.deepEqual(server.connections.splice(0), ['live', 'connecting']);
  await advance(300);
  server.socket.dispatchEvent(new Event('close'));
  assert.deepEqual(server.connections.splice(0), ['offline'], 'after a second failure');
  await advance(600);
  await server.open();
  assert.equal(server.connections.at(-1), 'live');
  watching.close();
});

test('retry() connects at once', async () => {
  await begin();
  for (let failures = 0; failures < 8; failures++) {
    server.socket.dispatchEvent(new Event('close'));
    await advance(60_000);
  }
  server.socket.dispatchEvent(new Event('close'));
  server.asked = [];
  watching.retry();
  assert.equal(server.connections.at(-1), 'offline', 'until the connection is live');
  await server.open();
  server.wantAsked('connect t', 'subscribe 0.0.0');
  assert.equal(server.connections.at(-1), 'live');
  watching.close();
});

test('backoff is random up to a doubling limit, plus the least delay', () => {
  for (const [failures, ceiling] of [
    [0, 250],
    [3, 2000],
    [30, 30_000],
  ]) {
    for (const chance of [0, 0.25, 0.5]) {
      assert.equal(backoff(failures, { random: () => chance }), chance * ceiling);
      assert.equal(
        backoff(failures, { random: () => chance, least: 1000 }),
        1000 + chance * ceiling,
      );
    }
  }
});
