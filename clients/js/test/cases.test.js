// The recorded cases that all clients have in common; clients/cases/README.md describes them.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import * as rethread from 'rethread';

import { ScriptedServer } from './cases-server.js';

const folder = new URL('../../cases/', import.meta.url);
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')));

const KINDS = {
  invalid: rethread.ValidationError,
  unauthorized: rethread.UnauthorizedError,
  forbidden: rethread.ForbiddenError,
  not_found: rethread.NotFoundError,
  conflict: rethread.ConflictError,
  precondition_failed: rethread.PreconditionFailedError,
  rate_limited: rethread.RateLimitedError,
  unavailable: rethread.UnavailableError,
  connection: rethread.ConnectionError,
  timeout: rethread.TimeoutError,
};

const CALLS = {
  createSession: (c, { body }, o) => c.sessions.create(body, o),
  getSession: (c, { session_id: id }, o) => c.sessions.get(id, o),
  updateSession: (c, { session_id: id, body }, o) => c.sessions.update(id, body, o),
  deleteSession: (c, { session_id: id }, o) => c.sessions.delete(id, o),
  getForks: (c, { session_id: id }, o) => c.sessions.forks(id, o),
  listSessions: (c, { query }, o) => c.sessions.list(query, o).all(),
  rewindSession: (c, { session_id: id, body }, o) => c.sessions.rewind(id, body, o),
  appendEvents: (c, { session_id: id, body }, o) => c.events.append(id, body, o),
  appendInvocation,
  startRun: (c, { session_id: id, body }, o) => c.runs.start(id, body, o),
  putArtifact: (c, { session_id: id, name, content, mime_type: type }, o) =>
    c.artifacts.put(id, name, { content, type }, o),
};

/** Appends batches, and returns the result of the last one. */
async function appendInvocation(
  c,
  { session_id: id, invocation_id: invocation, batches },
  options,
) {
  const writer = c.events.invocation(id, invocation);
  const refused = (error) => assert.ok(error instanceof rethread.ValidationError, `${error}`);
  const results = batches.map((events) => writer.append(events, options).catch(refused));
  return (await Promise.all(results)).at(-1);
}

/** A source of tokens, each of which is returned until it is rejected. */
function sourceOf([...tokens]) {
  return ({ rejected }) => {
    if (rejected === tokens[0] && tokens.length > 1) tokens.shift();
    return tokens[0];
  };
}

function clientOf({ tokens = ['token'] }, server) {
  return new rethread.Rethread({
    url: 'https://api.example',
    wsUrl: 'wss://live.example',
    token: sourceOf(tokens),
    fetch: server.fetch,
    environment: { WebSocket: server.WebSocket },
    random: () => 0,
  });
}

function compareError(error, want) {
  assert.ok(error instanceof rethread.RethreadError, `it is ${error}`);
  assert.equal(error.status, want.status);
  assert.ok(error.message);
  for (const [kind, Class] of Object.entries(KINDS)) {
    if ('kind' in want) assert.equal(error instanceof Class, want.kind === kind, kind);
  }
  for (const name of ['type', 'code', 'title', 'detail', 'errors', 'reason']) {
    if (name in want) assert.deepEqual(error[name], want[name], name);
  }
  if (error.problem.code) assert.ok(error instanceof rethread.ERRORS_BY_CODE[error.problem.code]);
  if ('request_id' in want) assert.equal(error.requestId, want.request_id);
  if ('retry_after_ms' in want) assert.equal(error.retryAfter, want.retry_after_ms);
  for (const [name, value] of Object.entries(want.members ?? {})) {
    assert.equal(error.problem[name], value, name);
  }
}

/** Compares what is wanted of a value: at least the members of objects, all entries of lists. */
function compare(value, want, at = 'the result') {
  if (Array.isArray(want)) {
    assert.equal(value?.length, want.length, at);
    for (const [i, entry] of want.entries()) compare(value[i], entry, `${at}[${i}]`);
  } else if (typeof want === 'object' && want !== null) {
    for (const [name, entry] of Object.entries(want))
      compare(value?.[name], entry, `${at}.${name}`);
  } else {
    assert.equal(value ?? null, want, at);
  }
}

async function call({ call: { operation, arguments: args, ...options }, outcome }, client) {
  const made = CALLS[operation](client, args, {
    idempotencyKey: options.idempotency_key,
    ifMatch: options.if_match,
    ...(options.timeout_ms && { timeout: options.timeout_ms }),
  });
  if (!outcome.error) return compare(await made, outcome.result);
  const error = await made.then(
    () => assert.fail('the call succeeded'),
    (error) => error,
  );
  compareError(error, outcome.error);
}

const shown = ({ items, ...session }) => ({
  ...session,
  items: items.map(({ id, status, content }) => ({
    id,
    status,
    text: content.parts.map(({ text }) => text ?? '').join(''),
  })),
});

/** Watches until the session shows what it should after all exchanges, or has ended. */
async function watch({ watch: { session_id: id }, outcome }, client, server) {
  let session;
  let ended;
  const check = Promise.withResolvers?.() ?? withResolvers();
  const changed = () => {
    if (outcome.ends ? ended : server.finished && session && matches(session, outcome.shows))
      check.resolve();
    else if (server.failure || ended) check.reject(server.failure ?? ended);
  };
  server.onProgress = changed;
  client.watch(id, {
    onChange: (now) => {
      session = now;
      changed();
    },
    onEnd: (error) => {
      ended = error;
      changed();
    },
  });
  const late = setTimeout(() => check.reject(new Error('not within 20 s')), 20_000);
  try {
    await check.promise;
  } catch (error) {
    if (session && outcome.shows) compare(shown(session), outcome.shows, 'the session');
    throw error;
  } finally {
    clearTimeout(late);
    client.close();
  }
  if (outcome.ends) compareError(ended, withoutKind(outcome.ends));
}

/** A deletion has no class of its own: its status is 410. */
const withoutKind = ({ kind, ...want }) => (kind === 'deleted' ? want : { kind, ...want });

function matches(session, want) {
  try {
    compare(shown(session), want);
    return true;
  } catch {
    return false;
  }
}

function withResolvers() {
  const out = {};
  out.promise = new Promise((resolve, reject) => Object.assign(out, { resolve, reject }));
  return out;
}

test('there are cases', () => assert.ok(cases.length >= 30));

for (const recorded of cases) {
  test(`recorded case: ${recorded.name}`, async () => {
    const server = new ScriptedServer(recorded.exchanges);
    const client = clientOf(recorded, server);
    await (recorded.call ? call : watch)(recorded, client, server);
    server.wantAllUsed();
  });
}
