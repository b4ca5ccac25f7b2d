// The agent of `rethread/ag-ui`, with the verifier of @ag-ui/client, against a fake server.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';

import { ConflictError, NotFoundError } from 'rethread';
import { RethreadAgent } from 'rethread/ag-ui';

import { json, StreamServer, until } from './fake-streams.js';

const RUN = 'POST /agui/team~a';
const CONNECT = 'POST /agui/team~a/connect';
const CANCEL = 'POST /api/v1/sessions/c/runs/r1/cancel';

let server;
let client;
let agent;
let seen;

beforeEach(() => {
  mock.method(console, 'error', () => {}); // @ag-ui/client logs each failed run
  begin();
});
afterEach(() => {
  client.close();
  mock.restoreAll();
});

function begin(options = {}) {
  server = new StreamServer();
  server.answers[CANCEL] = json(200, { data: { session: {}, items: [] }, meta: {} });
  client = server.client();
  agent = new RethreadAgent({ client, agent: 'team/a', threadId: 'c', ...options });
  agent.addMessage({ id: 'u', role: 'user', content: 'hi' });
  seen = { types: [], errors: [] };
  agent.subscribe({
    onEvent: ({ event }) => void seen.types.push(event.type),
    onRunErrorEvent: ({ event }) => void seen.errors.push(event.code),
  });
}

const started = { type: 'RUN_STARTED', threadId: 'c', runId: 'r1', protocolVersion: '1.0' };
const state = { type: 'STATE_SNAPSHOT', snapshot: {} };
const text = (what, delta, messageId = 'm') => ({
  type: `TEXT_MESSAGE_${what}`,
  messageId,
  ...(delta && { delta }),
  ...(what === 'START' && { role: 'assistant' }),
});
const thought = (what, delta) => ({
  type: `REASONING_${what}`,
  messageId: 't',
  ...(delta && { delta }),
  ...(what === 'MESSAGE_START' && { role: 'reasoning' }),
});
const finished = { type: 'RUN_FINISHED', threadId: 'c', runId: 'r1', outcome: { type: 'success' } };
const again = { type: 'RUN_ERROR', code: 'connect_again', message: 'again' };
const user = { id: 'u', role: 'user', content: 'hi' };
const snapshot = (...messages) => ({ type: 'MESSAGES_SNAPSHOT', messages: [user, ...messages] });

const shown = () =>
  agent.messages.map(({ role, content, toolCalls }) =>
    [role, content, ...(toolCalls ?? []).map((call) => call.function.arguments)].join(' ').trim(),
  );
const shows = (...want) => until(want.join(), () => shown().join() === want.join());
const run = () => agent.runAgent({ runId: 'r1' });

async function another(count) {
  await until('another connection', () => server.streams.length === count);
  return server.stream;
}

const whole = [
  started,
  state,
  thought('START'),
  thought('MESSAGE_START'),
  thought('MESSAGE_CONTENT', 'Hm'),
  thought('MESSAGE_CONTENT', 'm.'),
  thought('MESSAGE_END'),
  thought('END'),
  text('START'),
  text('CONTENT', 'One '),
  text('CONTENT', 'two '),
  text('CONTENT', 'three.'),
  text('END'),
  { type: 'TOOL_CALL_START', toolCallId: 'k', toolCallName: 'look', parentMessageId: 'm' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'k', delta: '{"a":' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'k', delta: '1}' },
  { type: 'TOOL_CALL_END', toolCallId: 'k' },
  { type: 'TOOL_CALL_RESULT', messageId: 'n', toolCallId: 'k', content: '2', role: 'tool' },
  { type: 'CUSTOM', name: 'rethread.artifacts', value: { f: 1 } },
  { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/k', value: 1 }] },
  finished,
];
const merged = { 'm.': null, 'two ': null, 'three.': null, '1}': null };
const longer = { Hm: 'Hmm.', 'One ': 'One two three.', '{"a":': '{"a":1}' };
const coarse = whole
  .filter(({ delta }) => merged[delta] !== null)
  .map((event) => (longer[event.delta] ? { ...event, delta: longer[event.delta] } : event));
const all = ['user hi', 'reasoning Hmm.', 'assistant One two three. {"a":1}', 'tool 2'];

/** What the server sends before it cuts a stream at its end of time: the ends of what is open. */
function endsOf(events) {
  const open = new Set(events.filter(({ type }) => type.endsWith('START')).map(idOf));
  for (const event of events) if (/_END$/.test(event.type)) open.delete(idOf(event));
  return [...open].flatMap((id) => {
    if (id === 't') {
      const inside = events.some(({ type }) => type === 'REASONING_MESSAGE_START');
      return inside ? [thought('MESSAGE_END'), thought('END')] : [];
    }
    return id === 'k' ? [{ type: 'TOOL_CALL_END', toolCallId: 'k' }] : [text('END')];
  });
}
const idOf = ({ messageId, toolCallId }) => toolCallId ?? messageId;

for (const [how, lose] of [
  ['a lost connection', (stream) => stream.cut()],
  ['the end of its time', (stream, sent) => stream.send(...endsOf(sent), again).end()],
]) {
  test(`goes on after ${how}, wherever it happens`, async (t) => {
    let cases = 0;
    for (let at = 1; at < whole.length; at++) {
      begin();
      const running = run();
      const sent = whole.slice(0, at);
      (await another(1)).send(...sent);
      await lose(server.stream, sent);
      (await another(2)).send(...coarse).end();
      await running;
      assert.deepEqual([shown(), seen.errors], [all, []], `cut after ${at}`);
      assert.deepEqual(agent.state, { k: 1 });
      assert.deepEqual(server.requests[1].body, server.requests[0].body, 'the same request');
      assert.ok(!seen.types.includes('MESSAGES_SNAPSHOT'), `cut after ${at}: no reset`);
      cases++;
    }
    t.diagnostic(`${cases} cases`);
    assert.equal(cases, 20);
  });
}

test('a text that differs replaces the messages of the run', async () => {
  const running = run();
  (await another(1)).send(started, state, text('START'), text('CONTENT', 'One '));
  await shows('user hi', 'assistant One');
  await server.stream.cut();
  (await another(2))
    .send(started, state, text('START'), text('CONTENT', 'Other'), text('END'), finished)
    .end();
  await running;
  assert.deepEqual([shown(), seen.errors], [['user hi', 'assistant Other'], []]);
});

test('requests reject with the errors of the package', async () => {
  server.answers[RUN] = json(409, { detail: 'other input', code: 'other_input' });
  await assert.rejects(run(), ConflictError);
  server.answers[CONNECT] = json(404, {});
  await assert.rejects(agent.connectAgent(), NotFoundError);
  assert.deepEqual(server.asked, [RUN, CONNECT]);
});

test('an agent that cannot be reached again is an error', async () => {
  const running = assert.rejects(run(), { status: 503 });
  (await another(1)).send(started, state);
  server.answers[RUN] = json(503, {});
  await server.stream.cut();
  await running;
  assert.equal(server.asked.length, 21);
});

test('connect joins the run in progress, and goes on after a lost connection', async () => {
  const joined = agent.connectAgent();
  const head = [started, snapshot(), state];
  (await another(1)).send(...head, text('START'), text('CONTENT', 'One '));
  await shows('user hi', 'assistant One');
  await server.stream.cut();
  (await another(2))
    .send(...head, text('START'), text('CONTENT', 'One two'), text('END'), finished)
    .end();
  await joined;
  assert.deepEqual(
    [shown(), server.asked],
    [
      ['user hi', 'assistant One two'],
      [CONNECT, CONNECT],
    ],
  );
  assert.equal(seen.types.filter((type) => type === 'MESSAGES_SNAPSHOT').length, 1);
});

for (const [what, sent] of [
  ['in a text', [text('START'), text('CONTENT', 'One ')]],
  ['before the first text', []],
]) {
  test(`connect shows a run that ended while the connection was lost ${what}`, async () => {
    const joined = agent.connectAgent();
    (await another(1)).send(started, snapshot(), state, ...sent);
    await server.stream.cut();
    const message = { id: 'm', role: 'assistant', content: 'One two' };
    (await another(2)).send(started, snapshot(message), state, finished).end();
    await joined;
    assert.deepEqual([shown(), seen.errors], [['user hi', 'assistant One two'], []]);
  });
}

test('abortRun cancels the run', async () => {
  const running = run();
  (await another(1)).send(started, state, text('START'), text('CONTENT', 'One '));
  await shows('user hi', 'assistant One');
  agent.abortRun();
  await running;
  await until('cancelled', () => server.asked.includes(CANCEL));
  await until('left', () => server.stream.left);
});

test('abortRun before the response cancels the run that the request begins', async () => {
  const running = run();
  await another(1);
  agent.abortRun();
  await running;
  assert.deepEqual(server.asked, [RUN]);
  server.stream.send(started);
  await until('cancelled', () => server.asked.includes(CANCEL));
});

test('with onAbort leave, and when it is detached, the run goes on', async () => {
  begin({ onAbort: 'leave' });
  const running = run();
  (await another(1)).send(started, state);
  await until('started', () => seen.types.length === 2);
  agent.abortRun();
  await running;
  await until('left', () => server.stream.left);
  begin();
  const detached = run();
  (await another(1)).send(started, state);
  await until('started', () => seen.types.length === 2);
  await agent.detachActiveRun();
  await detached.catch(() => {});
  await until('left', () => server.stream.left);
  assert.deepEqual(server.asked, [RUN]);
});

test('closing the client leaves the stream', async () => {
  const running = run();
  (await another(1)).send(started, state);
  await until('started', () => seen.types.length === 2);
  client.close();
  await running;
  assert.deepEqual([server.asked, server.stream.left], [[RUN], true]);
});

test('stop cancels the run in progress of the thread', async () => {
  server.answers['POST /agui/team~a/threads/c/stop'] = json(200, { threadId: 'c', runId: 'r7' });
  assert.equal(await agent.stop(), 'r7');
});

test('a clone has streams of its own', async () => {
  const clone = agent.clone();
  const running = clone.runAgent({ runId: 'r1' });
  (await another(1)).send(started, state);
  await agent.detachActiveRun();
  server.stream.send(text('START'), text('CONTENT', 'One'), text('END'), finished).end();
  await running;
  assert.deepEqual(
    clone.messages.map(({ content }) => content),
    ['hi', 'One'],
  );
  assert.equal(agent.messages.length, 1);
});

for (const reports of [true, false]) {
  test(`a run that could not be cancelled is ${reports ? 'reported' : 'no unhandled rejection'}`, async () => {
    const failed = [];
    begin(reports ? { onStopFailed: ({ status }) => failed.push(status) } : {});
    server.answers[CANCEL] = json(403, {});
    const running = run();
    (await another(1)).send(started, state);
    await until('started', () => seen.types.length === 2);
    agent.abortRun();
    await running;
    await until('asked', () => server.asked.includes(CANCEL));
    await until('reported', () => !reports || failed.length > 0);
    await new Promise((done) => setImmediate(done));
    assert.deepEqual(failed, reports ? [403] : []);
  });
}
