// The transport of `rethread/ai-sdk`, in the Chat of @ai-sdk/react, against a fake server.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';

import { Chat } from '@ai-sdk/react';
import { ConflictError, RateLimitedError } from 'rethread';
import { RethreadChatTransport } from 'rethread/ai-sdk';

import { json, StreamServer, until } from './fake-streams.js';

const SEND = 'POST /ai-sdk/team~a';
const RESUME = 'GET /ai-sdk/team~a/c/stream';
const MESSAGES = 'GET /ai-sdk/team~a/c/messages';
const CANCEL = 'POST /api/v1/sessions/c/runs/r1/cancel';

let server;
let client;
let transport;
let chat;
let errors;
let failedStops;

beforeEach(() => begin());
afterEach(() => client.close());

function begin(options = {}) {
  server = new StreamServer();
  server.answers[CANCEL] = json(200, { data: { session: {}, items: [] }, meta: {} });
  client = server.client();
  errors = [];
  failedStops = [];
  const onStopFailed = (error) => failedStops.push(error);
  transport = new RethreadChatTransport({ client, agent: 'team/a', onStopFailed, ...options });
  chat = new Chat({ id: 'c', transport, onError: (error) => errors.push(error) });
}

const head = (run = 'r1') => [
  { type: 'start', messageId: run },
  { type: 'data-rethread-run', data: { run_id: run, session_id: 'c' }, transient: true },
  { type: 'data-rethread-state', data: {}, transient: true },
];
const step = { type: 'start-step' };
const start = (id = 'e:0') => ({ type: 'text-start', id });
const add = (delta, id = 'e:0') => ({ type: 'text-delta', id, delta });
const end = (id = 'e:0') => ({ type: 'text-end', id });
const stepEnd = { type: 'finish-step' };
const finish = { type: 'finish', finishReason: 'stop' };
const reconnect = { type: 'data-rethread-reconnect', data: { run_id: 'r1' }, transient: true };

const parts = () => (chat.lastMessage?.role === 'assistant' ? chat.lastMessage.parts : []);
const text = () =>
  parts()
    .filter(({ type }) => type === 'text')
    .map((part) => part.text)
    .join('|');
const shows = (what) => until(what, () => text() === what);

/** Waits for another connection. */
async function another(count) {
  await until('another connection', () => server.streams.length === count);
  return server.stream;
}

test('sends the messages, and shows the run', async () => {
  const sent = chat.sendMessage({ text: 'hi' });
  await another(1);
  server.stream.send(...head(), step, start(), add('Hel'), add('lo'), end(), stepEnd, finish).end();
  await sent;
  const { body, headers } = server.requests[0];
  assert.deepEqual([body.id, body.trigger, body.messages.length], ['c', 'submit-message', 1]);
  assert.equal(headers.Authorization, 'Bearer t');
  assert.deepEqual(
    [text(), chat.status, chat.lastMessage.id, errors],
    ['Hello', 'ready', 'r1', []],
  );
  assert.deepEqual(server.asked, [SEND]);
});

/** Cuts a stream after each of its chunks in turn, and returns how often. */
async function cutEverywhere(chunks, replay, lose, options = {}) {
  let cases = 0;
  for (let at = 1; at < chunks.length; at++) {
    begin(options);
    const sent = chat.sendMessage({ text: 'hi' });
    await another(1);
    server.stream.send(...chunks.slice(0, at));
    await lose(server.stream);
    (await another(2)).send(...replay).end();
    await sent;
    assert.deepEqual([chat.status, errors], ['ready', []], `cut after ${at}`);
    assert.equal(server.requests[1].what, SEND);
    assert.deepEqual(
      server.requests[1].body.rethread,
      at > 1 ? { run_id: 'r1' } : undefined,
      'names the run once it is known',
    );
    cases++;
    yieldParts(at);
  }
  return cases;
}

let seen = [];
const yieldParts = (at) => seen.push([at, JSON.stringify(parts())]);

const whole = [
  ...head(),
  step,
  { type: 'reasoning-start', id: 'e:0' },
  { type: 'reasoning-delta', id: 'e:0', delta: 'Hm' },
  { type: 'reasoning-delta', id: 'e:0', delta: 'm.' },
  { type: 'reasoning-end', id: 'e:0' },
  { type: 'tool-input-start', toolCallId: 'k', toolName: 'look', dynamic: true },
  { type: 'tool-input-delta', toolCallId: 'k', inputTextDelta: '{"a":' },
  { type: 'tool-input-delta', toolCallId: 'k', inputTextDelta: ' 1}' },
  {
    ...{ type: 'tool-input-available', toolCallId: 'k', toolName: 'look' },
    dynamic: true,
    input: { a: 1 },
  },
  { type: 'tool-output-available', toolCallId: 'k', dynamic: true, output: 2 },
  { type: 'data-rethread-artifacts', id: 'e', data: { f: 1 } },
  stepEnd,
  { type: 'data-rethread-state', data: { k: 1 }, transient: true },
  step,
  start('f:0'),
  add('One ', 'f:0'),
  add('two ', 'f:0'),
  add('three.', 'f:0'),
  end('f:0'),
  { type: 'file', url: 'data:,x', mediaType: 'text/plain' },
  stepEnd,
  finish,
];
const coarse = whole
  .filter(
    ({ delta, inputTextDelta }) =>
      !['m.', 'two ', 'three.'].includes(delta) && inputTextDelta !== ' 1}',
  )
  .map((chunk) => {
    if (chunk.delta === 'Hm') return { ...chunk, delta: 'Hmm.' };
    if (chunk.delta === 'One ') return { ...chunk, delta: 'One two three.' };
    return chunk.inputTextDelta ? { ...chunk, inputTextDelta: '{"a":1}' } : chunk;
  });

for (const [how, lose] of [
  ['a lost connection', (stream) => stream.cut()],
  [
    'the end of its time',
    (stream) => stream.send(reconnect, { type: 'error', errorText: 'again' }).end(),
  ],
  ['an end without a last chunk', (stream) => stream.end()],
]) {
  test(`goes on after ${how}, wherever it happens`, async (t) => {
    seen = [];
    const cases = await cutEverywhere(whole, coarse, lose);
    t.diagnostic(`${cases} cases`);
    assert.ok(cases >= 24, `${cases} cases`);
    assert.deepEqual(new Set(seen.map(([, shown]) => shown)).size, 1, JSON.stringify(seen));
    const types = parts().map(({ type }) => type);
    assert.deepEqual(types, [
      'step-start',
      'reasoning',
      'dynamic-tool',
      'data-rethread-artifacts',
      'step-start',
      'text',
      'file',
    ]);
  });
}

/** Begins a run whose stream has the first word, and returns the promise of its end. */
async function streaming(...chunks) {
  const sent = chat.sendMessage({ text: 'hi' });
  await another(1);
  server.stream.send(...head(), step, start(), add('One '), ...chunks);
  await shows('One ');
  return { sent };
}

test('a text that differs replaces the step', async () => {
  const { sent } = await streaming();
  await server.stream.cut();
  (await another(2)).send(...head(), step, start(), add('Another.'), end(), stepEnd, finish).end();
  await sent;
  assert.deepEqual([text(), parts().length, errors], ['Another.', 2, []]);
});

test('a text that is shorter replaces the step', async () => {
  const { sent } = await streaming();
  await server.stream.cut();
  (await another(2)).send(...head(), step, start(), add('One'), end(), stepEnd, finish).end();
  await sent;
  assert.deepEqual([text(), parts().length], ['One', 2]);
});

test('a step that the server takes back is shown as it is sent again', async () => {
  const { sent } = await streaming();
  server.stream.send({ type: 'reset-step' }, start('g:0'), add('New ', 'g:0'));
  await shows('New ');
  await server.stream.cut();
  (await another(2))
    .send(...head(), step, start('g:0'), add('New text', 'g:0'), end('g:0'), stepEnd, finish)
    .end();
  await sent;
  assert.equal(text(), 'New text');
});

test('a run that fails while the connection is lost ends with its error', async () => {
  const { sent } = await streaming();
  await server.stream.cut();
  (await another(2))
    .send(...head(), step, start(), add('One two'), { type: 'error', errorText: 'failed' })
    .end();
  await sent;
  assert.deepEqual([text(), chat.status, chat.error.message], ['One two', 'error', 'failed']);
});

test('a server that stays unreachable is an error after some attempts', async () => {
  const { sent } = await streaming();
  server.answers[SEND] = json(503, {});
  await server.stream.cut();
  await sent;
  assert.deepEqual([chat.error.name, chat.error.status], ['UnavailableError', 503]);
  assert.equal(server.asked.filter((what) => what === SEND).length, 21);
});

test('a run that was rewound while the connection was lost is an error at once', async () => {
  const { sent } = await streaming();
  server.answers[SEND] = json(409, { detail: 'the run was rewound', code: 'run_rewound' });
  await server.stream.cut();
  await sent;
  assert.ok(chat.error instanceof ConflictError, String(chat.error));
  assert.equal(server.asked.length, 2);
});

test('requests reject with the errors of the package', async () => {
  server.answers[SEND] = json(429, { detail: 'too many streams' }, { 'Retry-After': '90' });
  await chat.sendMessage({ text: 'hi' });
  assert.ok(chat.error instanceof RateLimitedError, String(chat.error));
  assert.deepEqual([chat.error.retryAfter, chat.error.message], [90_000, 'too many streams']);
  server.answers[SEND] = json(409, { detail: 'a run is in progress', run_id: 'other' });
  await chat.sendMessage({ text: 'hi' });
  assert.ok(chat.error instanceof ConflictError, String(chat.error));
  assert.deepEqual([chat.error.runId, server.asked.length], ['other', 2]);
});

test('a token that expires during a stream is renewed', async () => {
  let current = 'old';
  client = server.client({
    token: ({ rejected }) => {
      if (rejected) current = 'new';
      return current;
    },
  });
  transport = new RethreadChatTransport({ client, agent: 'team/a' });
  chat = new Chat({ id: 'c', transport });
  const { sent } = await streaming();
  server.answers[SEND] = ({ headers }) => headers.Authorization === 'Bearer old' && json(401, {})();
  server.stream.send(reconnect, { type: 'error', errorText: 'again' }).end();
  (await another(2)).send(...head(), step, start(), add('One two'), end(), stepEnd, finish).end();
  await sent;
  assert.deepEqual([text(), chat.status], ['One two', 'ready']);
  assert.equal(server.stream.request.headers.Authorization, 'Bearer new');
});

test('stop cancels the run, and the next message waits for that', async () => {
  const { sent } = await streaming();
  let cancelled;
  server.answers[CANCEL] = () =>
    new Promise((resolve) => {
      cancelled = () => resolve(json(200, { data: { session: {}, items: [] }, meta: {} })());
    });
  await chat.stop();
  await sent;
  assert.deepEqual([chat.status, text(), errors], ['ready', 'One ', []]);
  await until('left', () => server.streams[0].left);
  void chat.sendMessage({ text: 'next' });
  await until('cancelling', () => cancelled);
  assert.deepEqual(server.asked, [SEND, CANCEL]);
  cancelled();
  await another(2);
  assert.deepEqual(server.asked, [SEND, CANCEL, SEND]);
});

test('stop before the response cancels the run that the request begins', async () => {
  let answer;
  server.answers[SEND] = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const sent = chat.sendMessage({ text: 'hi' });
  await until('asked', () => answer);
  await chat.stop();
  await sent;
  assert.deepEqual([chat.status, server.asked], ['ready', [SEND]]);
  server.answers = { [CANCEL]: server.answers[CANCEL] };
  answer(undefined);
  (await another(1)).send(...head());
  await until('cancelled', () => server.asked.at(-1) === CANCEL);
  await until('left', () => server.stream.left);
});

test('stop of a request that is refused cancels nothing', async () => {
  let answer;
  server.answers[SEND] = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  void chat.sendMessage({ text: 'hi' });
  await until('asked', () => answer);
  await chat.stop();
  answer(json(409, {})());
  delete server.answers[SEND];
  void chat.sendMessage({ text: 'next' });
  await another(1);
  assert.deepEqual([server.asked, failedStops], [[SEND, SEND], []]);
});

test('a run that could not be cancelled is reported', async () => {
  const { sent } = await streaming();
  server.answers[CANCEL] = json(403, {});
  await chat.stop();
  await sent;
  await until('reported', () => failedStops.length > 0);
  assert.deepEqual(
    failedStops.map(({ status }) => status),
    [403],
  );
});

test('with onAbort leave, only stop of the transport cancels', async () => {
  begin({ onAbort: 'leave' });
  const { sent } = await streaming();
  await chat.stop();
  await sent;
  await until('left', () => server.stream.left);
  assert.deepEqual([server.asked, chat.status], [[SEND], 'ready']);
  server.answers['POST /ai-sdk/team~a/c/stop'] = json(200, {
    id: 'c',
    run_id: 'r1',
    status: 'cancelled',
  });
  assert.equal(await transport.stop('c'), 'r1');
});

for (const [what, close] of [
  ['the client', () => client.close()],
  ['the transport', () => transport.close()],
]) {
  test(`closing ${what} leaves the streams, whose runs go on`, async () => {
    const { sent } = await streaming();
    close();
    await sent;
    await until('left', () => server.stream.left);
    assert.deepEqual([server.asked, chat.status, errors], [[SEND], 'ready', []]);
  });
}

test('a message in progress is resumed, and goes on after a lost connection', async () => {
  const resumed = chat.resumeStream();
  (await another(1)).send(...head(), step, start(), add('One '));
  await shows('One ');
  await server.stream.cut();
  (await another(2)).send(...head(), step, start(), add('One two'), end(), stepEnd, finish).end();
  await resumed;
  assert.deepEqual([text(), chat.status, server.asked], ['One two', 'ready', [RESUME, RESUME]]);
});

const stored = (...more) => [
  { id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] },
  { id: 'r1', role: 'assistant', parts: [{ type: 'step-start' }, ...more] },
];
const said = { type: 'text', text: 'One two', state: 'done' };

for (const [what, next] of [
  ['when there is no run', [json(204)]],
  ['when another run is in progress', [undefined, json(204)]],
]) {
  for (const [status, want] of [
    ['completed', 'ready'],
    ['cancelled', 'ready'],
    ['failed', 'error'],
  ]) {
    test(`the end of a resumed message is read from the store ${what}: ${status}`, async () => {
      server.answers[MESSAGES] = json(200, stored(said));
      server.answers['GET /api/v1/sessions/c/runs/r1'] = json(200, {
        data: { id: 'r1', status, error: status === 'failed' ? { message: 'no' } : null },
      });
      const resumed = chat.resumeStream();
      (await another(1)).send(...head(), step, start(), add('One '));
      await shows('One ');
      if (next[0]) server.answers[RESUME] = next[0];
      await server.stream.cut();
      if (!next[0]) (await another(2)).send(...head('r2'));
      await resumed;
      assert.deepEqual([text(), chat.status, chat.messages.length], ['One two', want, 1]);
    });
  }
}

test('nothing is resumed without a run in progress', async () => {
  server.answers[RESUME] = json(204);
  await chat.resumeStream();
  assert.deepEqual([chat.status, server.asked], ['ready', [RESUME]]);
});

test('a run that ended between loading and resuming is shown', async () => {
  server.answers[MESSAGES] = json(200, stored().slice(0, 1));
  chat.messages = await transport.loadMessages('c');
  server.answers[RESUME] = json(204);
  server.answers[MESSAGES] = json(200, stored(said));
  await chat.resumeStream();
  assert.deepEqual([text(), chat.messages.length], ['One two', 2]);
  await chat.resumeStream();
  assert.deepEqual(server.asked, [MESSAGES, RESUME, MESSAGES, RESUME]);
});

test('a chat that has not begun has no messages', async () => {
  server.answers[MESSAGES] = json(404, {});
  assert.deepEqual(await transport.loadMessages('c'), []);
});

test('resuming twice leaves the first stream, and stops no run', async () => {
  const first = chat.resumeStream();
  (await another(1)).send(...head(), step, start(), add('One '));
  await shows('One ');
  const second = chat.resumeStream();
  (await another(2)).send(...head(), step, start(), add('One two'), end(), stepEnd, finish).end();
  await Promise.all([first, second]);
  await until('left', () => server.streams[0].left);
  assert.deepEqual([text(), server.asked], ['One two', [RESUME, RESUME]]);
});

test('a run that could not be cancelled does not prevent the next message', async () => {
  begin({ onStopFailed: undefined });
  const { sent } = await streaming();
  server.answers[CANCEL] = json(403, {});
  await chat.stop();
  await sent;
  void chat.sendMessage({ text: 'next' });
  await another(2);
  assert.deepEqual([server.asked, errors], [[SEND, CANCEL, SEND], []]);
});

test('a connection that falls silent is replaced', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { sent } = await streaming();
  t.mock.timers.tick(40_000);
  server.stream.raw(': keep-alive\n\n');
  await until('read', () => server.stream.isRead);
  for (let seconds = 0; seconds < 90 && server.streams.length === 1; seconds++) {
    t.mock.timers.tick(1_000);
    for (let turns = 0; turns < 5; turns++) await new Promise((done) => setImmediate(done));
    if (seconds < 44) assert.equal(server.streams.length, 1, `${seconds} s`);
  }
  assert.ok(server.streams[0].left, 'the silent one is closed');
  server.stream.send(...head(), step, start(), add('One two'), end(), stepEnd, finish).end();
  await sent;
  assert.deepEqual([text(), chat.status], ['One two', 'ready']);
});

test('older messages are loaded page by page', async () => {
  const pages = {
    '?limit=2': ['c', '<?limit=2&before=9>; rel="next"'],
    '?limit=2&before=9': ['b', ''],
  };
  const queries = [];
  server.answers[MESSAGES] = ({ url }) => {
    const { search } = new URL(url);
    queries.push(search);
    const [id, link] = pages[search];
    return json(200, [{ id, role: 'user', parts: [] }], link ? { Link: link } : {})();
  };
  const ids = async (loading) => (await loading).map(({ id }) => id);
  assert.deepEqual(await ids(transport.loadMessages('c', { limit: 2 })), ['c']);
  assert.deepEqual(await ids(transport.loadOlder('c')), ['b']);
  assert.deepEqual(await ids(transport.loadOlder('c')), []);
  assert.deepEqual(queries, Object.keys(pages));
});
