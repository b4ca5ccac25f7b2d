// What hooks read again and again, without React, on a fake clock.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';

import { Hub } from '../dist/react/hub.js';
import { settled } from './fake-server.js';
import { json, StreamServer } from './fake-streams.js';

const TREE = 'GET /api/v1/sessions/s/forks';
const LIST = 'GET /api/v1/sessions';

let server;
let client;
let hub;
let page;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  page = {
    window: new EventTarget(),
    document: Object.assign(new EventTarget(), { visibilityState: 'visible' }),
  };
  server = new StreamServer();
  server.answers[TREE] = () => tree('s')();
  server.answers[LIST] = json(200, { data: [], meta: { next_cursor: null } });
  client = server.client({ environment: page });
  hub = new Hub(client);
});
afterEach(() => {
  client.close();
  mock.timers.reset();
});

const branch = (id, ...children) => ({ id, name: id, deleted: false, children });
const tree = (id, ...children) => json(200, { data: branch(id, ...children) });
const asked = (what) => server.asked.filter((one) => one === what).length;

async function advance(milliseconds) {
  mock.timers.tick(milliseconds);
  await settled();
}

/** Shows or hides the page. */
function show(state) {
  page.document.visibilityState = state;
  page.document.dispatchEvent(new Event('visibilitychange'));
}

test('a tree shows forks and names that others make', async (t) => {
  const store = hub.tree('s');
  t.after(store.subscribe(() => {}));
  await settled();
  server.answers[TREE] = () => tree('renamed', branch('fork'))();
  await advance(9_999);
  assert.equal(store.get().root.name, 's');
  await advance(1);
  const { name, children } = store.get().root;
  assert.deepEqual([name, children[0].name], ['renamed', 'fork']);
});

test('a hidden page reads nothing, and a visible one at once', async (t) => {
  t.after(hub.tree('s').subscribe(() => {}));
  await settled();
  show('hidden');
  await advance(10_000);
  await advance(60_000);
  assert.equal(asked(TREE), 1);
  show('visible');
  await advance(0);
  assert.equal(asked(TREE), 2);
});

for (const [what, wake] of [
  ['focus', () => page.window.dispatchEvent(new Event('focus'))],
  ['online', () => page.window.dispatchEvent(new Event('online'))],
  ['visibilitychange', () => show('visible')],
]) {
  test(`many events ${what} cause at most one read in two seconds`, async (t) => {
    t.after(hub.tree('s').subscribe(() => {}));
    await settled();
    for (let at = 0; at < 60_000; at += 100) {
      wake();
      await advance(100);
    }
    assert.ok(asked(TREE) > 25 && asked(TREE) <= 31, `${asked(TREE)} reads in a minute`);
  });
}

test('a slow server gets one request at a time', async (t) => {
  t.after(hub.tree('s').subscribe(() => {}));
  await settled();
  const waiting = [];
  server.answers[TREE] = () => new Promise((resolve) => waiting.push(resolve));
  for (let at = 0; at < 25_000; at += 500) {
    page.window.dispatchEvent(new Event('focus'));
    await advance(500);
  }
  assert.equal(waiting.length, 1);
  waiting[0](tree('late')());
  await settled();
  await advance(0);
  assert.equal(waiting.length, 2, 'what changed meanwhile is read');
});

test('a read that fails is tried again', async (t) => {
  const store = hub.tree('s');
  server.answers[TREE] = json(403, {});
  t.after(store.subscribe(() => {}));
  await settled();
  assert.equal(store.get().error.status, 403);
  server.answers[TREE] = tree('s');
  await advance(10_000);
  assert.deepEqual([store.get().error, store.get().root.id], [null, 's']);
});

test('closing the client ends all reads, although components still use them', async (t) => {
  t.after(hub.tree('s').subscribe(() => {}));
  t.after(hub.sessions({}).subscribe(() => {}));
  await settled();
  assert.deepEqual([asked(TREE), asked(LIST)], [1, 1]);
  client.close();
  for (let at = 0; at < 5; at++) {
    page.window.dispatchEvent(new Event('focus'));
    await advance(10_000);
  }
  assert.deepEqual([asked(TREE), asked(LIST)], [1, 1]);
});

test('a store without users reads nothing', async () => {
  const unsubscribe = hub.tree('s').subscribe(() => {});
  await settled();
  unsubscribe();
  await advance(1);
  await advance(60_000);
  page.window.dispatchEvent(new Event('focus'));
  await advance(60_000);
  assert.equal(asked(TREE), 1);
});

test('what a watched session shows of other clients is read soon, at most every two seconds', async (t) => {
  const watched = {};
  client.watch = (_, options) => Object.assign(watched, options, { close: () => {} });
  t.after(hub.tree('s').subscribe(() => {}));
  t.after(hub.thread('s').subscribe(() => {}));
  await settled();
  const shown = {
    items: [],
    status: 'idle',
    epoch: 0,
    queued: [],
    queue_version: 0,
    kept: false,
    status_seq: 0,
  };
  watched.onChange(shown);
  await advance(5_000);
  assert.equal(asked(TREE), 1, 'nothing has changed');
  for (let epoch = 1; epoch <= 50; epoch++) {
    watched.onChange({ ...shown, epoch });
    await advance(100);
  }
  assert.ok(asked(TREE) >= 3 && asked(TREE) <= 4, `${asked(TREE)} reads in five seconds`);
});
