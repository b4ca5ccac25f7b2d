// The hooks, in jsdom, against a fake server.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';

import { JSDOM } from 'jsdom';

const dom = new JSDOM('<!doctype html><div id="page"></div>');
Object.assign(globalThis, {
  window: dom.window,
  document: dom.window.document,
  IS_REACT_ACT_ENVIRONMENT: true,
});

Object.defineProperty(globalThis, 'navigator', { value: dom.window.navigator, configurable: true });

const { act, createElement: h, StrictMode } = await import('react');
const { createRoot } = await import('react-dom/client');
const { Rethread } = await import('rethread');
const { RethreadProvider, useSessions, useThread, useTree } = await import('rethread/react');

const text = (text) => ({ role: 'user', parts: [{ text }] });
const item = (seq, of, run = 'r1') => ({
  id: `e${seq}`,
  seq,
  invocation_id: run,
  author: 'user',
  status: 'completed',
  content: text(of),
});

/** A server with one session, whose answers and messages the test gives. */
class FakeServer {
  sockets = [];
  requests = [];
  thread = { session: {}, status: 'idle', items: [], cursor: '0.0.0', run: null };
  answers = {};

  client(token = 't') {
    const server = this;
    class WebSocket extends EventTarget {
      open = true;

      constructor() {
        super();
        server.sockets.push(this);
        setImmediate(() => this.dispatchEvent(new Event('open')));
      }

      send(data) {
        const { request_id, session_id } = JSON.parse(data);
        this.session = session_id;
        setImmediate(() => this.receive({ type: 'subscribed', request_id, session_id }));
      }

      receive(message) {
        this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(message) }));
      }

      close() {
        this.open = false;
      }
    }
    const fetch = async (url, { method, body, headers }) => {
      const path = new URL(url).pathname.replace('/api/v1', '');
      const request = {
        method,
        path,
        body: body && JSON.parse(body),
        token: headers.Authorization,
      };
      this.requests.push(request);
      const answer = this.answers[`${method} ${path}`];
      if (answer) return answer(request);
      return this.json(200, path.endsWith('/thread') ? this.thread : []);
    };
    return new Rethread({
      url: 'http://api',
      wsUrl: 'ws://ws',
      token,
      fetch,
      random: () => 0,
      environment: { WebSocket },
    });
  }

  json(status, data) {
    return new Response(JSON.stringify({ data, meta: { next_cursor: null } }), { status });
  }

  get live() {
    return this.sockets.filter(({ open }) => open);
  }

  send(message) {
    for (const socket of this.live) socket.receive({ session_id: 's', ...message });
  }

  snapshot(of) {
    const { seq } = of;
    this.send({ type: 'item.snapshot', cursor: `0.${seq}.0`, prev: `0.${seq - 1}.0`, item: of });
  }

  status(seq, status, run_id, prev = seq) {
    this.send({ type: 'thread.status', cursor: `0.${seq}.0`, prev: `0.${prev}.0`, status, run_id });
  }
}

let server;
let root;
let seen;

beforeEach(() => {
  server = new FakeServer();
  root = createRoot(document.getElementById('page'));
  seen = {};
});

afterEach(async () => {
  await act(async () => root.unmount());
  await settled();
  assert.deepEqual(server.live, [], 'no connection is left');
});

async function settled() {
  await act(async () => {
    for (let i = 0; i < 6; i++) await new Promise((done) => setTimeout(done));
  });
}

function Thread({ id = 's', as = 'thread' }) {
  seen[as] = useThread(id);
  return null;
}

/** Renders components below a provider, in strict mode. */
async function render(client, ...children) {
  const provider = h(RethreadProvider, { client }, ...children);
  await act(async () => root.render(h(StrictMode, null, provider)));
  await settled();
}

const texts = (thread = seen.thread) =>
  thread.items.map(({ content, pending }) => content.parts[0].text + (pending ? '…' : ''));

/** Accepts an input as the event at a position. */
const accepts =
  (seq, run) =>
  ({ body }) => {
    const session = { active_run_id: run, head_seq: seq, epoch: 0 };
    const items = [{ ...item(seq, '', run), ...body.input[0] }];
    server.sent = items[0];
    return server.json(202, { ...server.thread, session, items });
  };

test('shows a session live, over one connection in strict mode', async () => {
  server.thread = { ...server.thread, items: [item(1, 'hi')], cursor: '0.1.0' };
  await render(server.client(), h(Thread));
  assert.deepEqual(
    [texts(), seen.thread.loaded, seen.thread.connection.state],
    [['hi'], true, 'live'],
  );
  await act(async () => server.snapshot(item(2, 'there')));
  assert.deepEqual(texts(), ['hi', 'there']);
  assert.equal(server.sockets.length, 1);
});

test('without an id, hooks wait and ask nothing; with one they begin', async () => {
  function Hooks({ id }) {
    seen.tree = useTree(id);
    return h(Thread, { id });
  }
  const client = server.client();
  await render(client, h(Hooks, { id: '' }));
  assert.deepEqual([server.sockets, server.requests], [[], []]);
  assert.deepEqual([seen.thread.loaded, seen.thread.ended, seen.tree.error], [false, null, null]);
  await assert.rejects(seen.thread.send('hi'), /no session/);
  await render(client, h(Thread, { id: 's' }));
  assert.deepEqual([seen.thread.loaded, seen.thread.connection.state], [true, 'live']);
});

test('two components on one session share one connection', async () => {
  const client = server.client();
  await render(client, h(Thread, { key: 1, as: 'one' }), h(Thread, { key: 2, as: 'two' }));
  assert.equal(server.sockets.length, 1);
  await act(async () => server.snapshot(item(1, 'hi')));
  assert.deepEqual([texts(seen.one), texts(seen.two)], [['hi'], ['hi']]);
  await render(client, h(Thread, { key: 1, as: 'one' }));
  assert.equal(server.live.length, 1, 'the other component still needs it');
});

test('two providers of one client share one connection, in strict mode', async () => {
  const client = server.client();
  const provider = (as) => h(RethreadProvider, { client, key: as }, h(Thread, { as }));
  const both = h(StrictMode, null, provider('one'), provider('two'));
  await act(async () => root.render(both));
  await settled();
  assert.equal(server.sockets.length, 1);
  await act(async () => server.snapshot(item(1, 'hi')));
  assert.deepEqual([texts(seen.one), texts(seen.two)], [['hi'], ['hi']]);
  await act(async () => root.render(h(StrictMode, null, provider('one'))));
  await settled();
  assert.equal(server.live.length, 1, 'the other provider still needs it');
});

test('closing the client leaves no connection while components are shown, in strict mode', async () => {
  const client = server.client();
  server.answers['GET /sessions/a/forks'] = () => server.json(200, branch('a', null, 0));
  await render(client, h(Thread, { key: 1 }), h(List, { key: 2 }), h(Tree, { key: 3 }));
  assert.equal(server.live.length, 1);
  await act(async () => client.close());
  const { length } = server.requests;
  await act(async () => {
    for (const event of ['focus', 'online']) dom.window.dispatchEvent(new dom.window.Event(event));
    document.dispatchEvent(new dom.window.Event('visibilitychange'));
  });
  await settled();
  assert.deepEqual([server.live, server.requests.length], [[], length]);
});

test('another session gets another connection, and the first one is closed', async () => {
  const client = server.client();
  await render(client, h(Thread, { id: 's' }));
  await act(async () => server.snapshot(item(1, 'secret')));
  await render(client, h(Thread, { id: 's2' }));
  assert.deepEqual(texts(), []);
  assert.deepEqual(
    server.live.map(({ session }) => session),
    ['s2'],
  );
});

test('shows an input at once, and replaces it when it arrives', async () => {
  await render(server.client(), h(Thread));
  let answer;
  server.answers['POST /sessions/s/runs'] = (request) =>
    new Promise((resolve) => {
      answer = () => resolve(accepts(1, 'r1')(request));
    });
  let sent;
  await act(async () => {
    sent = seen.thread.send('hello');
  });
  assert.deepEqual([texts(), seen.thread.status], [['hello…'], 'in_progress']);
  await act(async () => {
    answer();
    await sent;
  });
  assert.deepEqual([texts(), seen.thread.run_id], [['hello…'], 'r1']);
  await act(async () => server.snapshot(server.sent));
  assert.deepEqual([texts(), seen.thread.status], [['hello'], 'in_progress']);
  await act(async () => server.status(1, 'in_progress', 'r1'));
  assert.deepEqual([seen.thread.status, seen.thread.run_id], ['in_progress', 'r1']);
  await act(async () => server.status(2, 'idle', 'r1', 1));
  assert.equal(seen.thread.status, 'idle');
});

test('removes an input that the server refuses, and rejects', async () => {
  await render(server.client(), h(Thread));
  server.answers['POST /sessions/s/runs'] = () => server.json(422, {});
  await act(async () => {
    await assert.rejects(seen.thread.send('hello'), { status: 422 });
  });
  assert.deepEqual([texts(), seen.thread.status], [[], 'idle']);
});

for (const on_failed of ['keep', undefined]) {
  const [what, before] = on_failed ? ['is kept', ['half an answer']] : ['will be discarded', []];
  test(`an input after a failed run that ${what} shows so at once`, async () => {
    await render(server.client(), h(Thread));
    const failure = { run_id: 'r1', error: { code: 'x', message: 'y' }, on_failed };
    await act(async () => {
      server.snapshot({ ...item(1, 'half an answer'), invocation_id: 'r1' });
      const at = { cursor: '0.2.0', prev: '0.1.0' };
      server.send({ type: 'thread.status', ...at, status: 'failed', ...failure });
    });
    assert.deepEqual([seen.thread.status, seen.thread.kept], ['failed', on_failed === 'keep']);
    let respond;
    const held = new Promise((resolve) => {
      respond = resolve;
    });
    const accept = accepts(3, 'r2');
    server.answers['POST /sessions/s/runs'] = (request) => held.then(() => accept(request));
    let sent;
    await act(async () => {
      sent = seen.thread.send('and now?');
    });
    assert.deepEqual([texts(), seen.thread.kept], [[...before, 'and now?…'], false]);
    respond();
    await act(async () => sent);
  });
}

test('an input waits in the queue while a run is in progress', async () => {
  server.thread = { ...server.thread, status: 'in_progress', run: { id: 'r1' } };
  await render(server.client(), h(Thread));
  server.answers['POST /sessions/s/runs'] = ({ body }) => {
    server.on_active = body.on_active;
    const queued = [{ run_id: 'r2', agent: 'a', input: body.input, queued_time: 1 }];
    return server.json(202, {
      ...server.thread,
      session: { head_seq: 1 },
      queued,
      queue_version: 1,
    });
  };
  let sent;
  await act(async () => {
    sent = seen.thread.send('next');
  });
  const waiting = () =>
    seen.thread.queued.map(({ run_id, input }) => [run_id, input[0].content.parts[0].text]);
  await act(async () => sent);
  assert.deepEqual([texts(), waiting(), server.on_active], [[], [['r2', 'next']], 'enqueue']);
  await act(async () => server.snapshot({ ...item(1, 'next'), invocation_id: 'r2' }));
  assert.deepEqual([texts(), waiting()], [['next'], []], 'its run has begun');
  const queued = [];
  await act(async () =>
    server.send({ type: 'thread.queue', cursor: '0.0.0', prev: '0.0.0', queue_version: 2, queued }),
  );
  assert.deepEqual(waiting(), []);
});

test('an input is queued if another client has started a run', async () => {
  await render(server.client(), h(Thread));
  const asked = [];
  server.answers['POST /sessions/s/runs'] = (request) => {
    asked.push(request.body.on_active);
    return asked.length === 1
      ? new Response(JSON.stringify({ run_id: 'theirs' }), { status: 409 })
      : accepts(3, 'r2')(request);
  };
  await act(async () => seen.thread.send('hello'));
  assert.deepEqual(asked, ['reject', 'enqueue']);
});

test('inputs are sent one after the other', async () => {
  await render(server.client(), h(Thread));
  let seq = 0;
  server.answers['POST /sessions/s/runs'] = (request) => accepts(++seq, `r${seq}`)(request);
  await act(async () => {
    await Promise.all([seen.thread.send('one'), seen.thread.send('two')]);
  });
  const inputs = server.requests.filter(({ method }) => method === 'POST');
  assert.deepEqual(
    inputs.map(({ body }) => body.input[0].content.parts[0].text),
    ['one', 'two'],
  );
});

test('stop cancels the run, also one that is being started', async () => {
  await render(server.client(), h(Thread));
  server.answers['POST /sessions/s/runs'] = accepts(1, 'r1');
  await act(async () => {
    await Promise.all([seen.thread.send('hello'), seen.thread.stop()]);
  });
  const { path, body } = server.requests.at(-1);
  assert.deepEqual([path, body], ['/sessions/s/runs/r1/cancel', { on_failed: 'keep' }]);
});

test('rewind and fork name the invocation', async () => {
  await render(server.client(), h(Thread));
  await act(async () => {
    await seen.thread.rewind('r1');
    await seen.thread.fork('r1', 'copy');
  });
  const bodies = server.requests
    .filter(({ method }) => method === 'POST')
    .map(({ path, body }) => [path, body]);
  assert.deepEqual(bodies, [
    ['/sessions/s/rewind', { cancel_run: true, rewind_before_invocation_id: 'r1' }],
    ['/sessions/s/fork', { rewind_before_invocation_id: 'r1', name: 'copy', strict: true }],
  ]);
});

for (const status of [403, 404]) {
  test(`ends with ${status}, without items`, async () => {
    server.answers['GET /sessions/s/thread'] = () => server.json(status, {});
    await render(server.client(), h(Thread));
    assert.deepEqual([seen.thread.ended.status, texts()], [status, []]);
  });
}

test('a deleted session ends with 410, without items', async () => {
  await render(server.client(), h(Thread));
  await act(async () => server.snapshot(item(1, 'hi')));
  await act(async () => server.send({ type: 'thread.deleted', cursor: '0.1.0', prev: '0.1.0' }));
  assert.deepEqual([seen.thread.ended.status, texts()], [410, []]);
});

test('after sign-out nothing of the user is left, and the next user has a connection of their own', async () => {
  const first = server.client('first');
  await render(first, h(Thread));
  await act(async () => server.snapshot(item(1, 'secret')));
  await act(async () => first.close());
  assert.deepEqual(server.live, []);
  await render(null, h(Thread));
  assert.deepEqual([texts(), seen.thread.loaded], [[], false]);
  await assert.rejects(seen.thread.send('hello'), /nobody is signed in/);
  server.requests = [];
  await render(server.client('second'), h(Thread));
  assert.deepEqual(texts(), []);
  assert.ok(server.requests.length > 0);
  assert.deepEqual([...new Set(server.requests.map(({ token }) => token))], ['Bearer second']);
});

test('after sleep a connection is checked when the page becomes visible', async () => {
  await render(server.client(), h(Thread));
  const [socket] = server.live;
  const sent = [];
  socket.send = (data) => sent.push(JSON.parse(data).action);
  await act(async () => document.dispatchEvent(new dom.window.Event('visibilitychange')));
  assert.deepEqual(sent, ['ping']);
});

const session = (id, updated_time, more) => ({ id, name: id, updated_time, ...more });

function List() {
  seen.list = useSessions({ limit: 2 });
  return null;
}

test('lists sessions, loads more, and reads again after a change', async () => {
  let top = [session('b', 2), session('a', 1)];
  server.answers['GET /sessions'] = () => server.json(200, top);
  await render(server.client(), h(List));
  const ids = () => seen.list.sessions.map(({ id }) => id);
  assert.deepEqual([ids(), seen.list.has_more], [['b', 'a'], false]);
  server.answers['POST /sessions'] = () => {
    top = [session('c', 3), ...top];
    return server.json(201, top[0]);
  };
  await act(async () => seen.list.create());
  await settled();
  assert.deepEqual(ids(), ['c', 'b', 'a']);
  server.answers['DELETE /sessions/c'] = () => {
    top = top.slice(1);
    return new Response(null, { status: 204 });
  };
  await act(async () => seen.list.remove('c'));
  await settled();
  assert.deepEqual(ids(), ['b', 'a']);
});

const branch = (id, boundary, at, ...children) => ({
  id,
  name: id,
  deleted: false,
  rewind_before_invocation_id: boundary,
  forked_at_seq: at,
  children,
});

function Tree() {
  seen.tree = useTree('a');
  return null;
}

test('finds the alternatives at an item, and switches between branches', async () => {
  const root = branch(
    'a',
    null,
    0,
    branch('b', 'i2', 2, branch('d', 'j3', 4)),
    branch('c', 'i2', 2),
  );
  server.answers['GET /sessions/a/forks'] = () => server.json(200, root);
  await render(server.client(), h(Tree));
  const at = (invocation_id, seq) =>
    seen.tree.alternatives({ invocation_id, seq }).map(({ id }) => id);
  assert.deepEqual(
    seen.tree.branches.map(({ id }) => id),
    ['a', 'b', 'd', 'c'],
  );
  assert.deepEqual([at('i1', 1), at('i2', 3)], [[], ['a', 'b', 'c']]);
  await act(async () => seen.tree.switchTo('b'));
  assert.equal(seen.tree.current, 'b');
  assert.deepEqual([at('j2', 3), at('j3', 5), at('i1', 1)], [['a', 'b', 'c'], ['b', 'd'], []]);
  await act(async () => seen.tree.switchTo('d'));
  assert.deepEqual([at('k', 5), at('j2', 3)], [['b', 'd'], []]);
});
