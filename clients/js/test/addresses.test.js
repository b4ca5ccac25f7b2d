// A client needs one address: the deployment names the others when they are needed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Rethread } from 'rethread';

import { fake, json, ok, problem, silence } from './fake.js';

const NAMED = {
  stream_url: 'https://streams.example/live',
  websocket_url: 'wss://sockets.example/live',
};
const one = { streamUrl: undefined };
const exported = () => new Response('{}');

/** A WebSocket that only notes its address. */
function sockets() {
  const opened = [];
  class WebSocket {
    constructor(url) {
      opened.push(url.href);
    }
    addEventListener() {}
    send() {}
    close() {}
  }
  return { opened, environment: { WebSocket } };
}

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

for (const url of ['https://api.example', 'https://api.example/', 'https://api.example/api/v1/']) {
  test(`calls go below ${url}, and nothing else is asked`, async () => {
    const { client, requests } = fake([ok({})], { ...one, url });
    await client.sessions.get('s');
    assert.deepEqual(
      requests.map((request) => request.url),
      ['https://api.example/api/v1/sessions/s'],
    );
  });
}

test('streams find their address with one request, which has no token', async () => {
  const { client, requests } = fake([ok(NAMED), exported], one);
  await Promise.all([client.sessions.export('a'), client.withUser('bob').sessions.export('b')]);
  await client.a2a.card('demo');
  assert.deepEqual(
    requests.map((request) => request.url),
    [
      'https://api.example/api/v1',
      'https://streams.example/live/api/v1/sessions/a/export',
      'https://streams.example/live/api/v1/sessions/b/export',
      'https://streams.example/live/a2a/demo/.well-known/agent-card.json',
    ],
  );
  assert.equal(requests[0].headers.authorization, undefined);
  assert.equal(requests[1].headers.authorization, 'Bearer token');
});

test('watching finds the WebSocket API', async () => {
  const { opened, environment } = sockets();
  const answer = ({ method }) => (method === 'GET' ? ok(NAMED)() : undefined);
  const { client } = fake([answer], { ...one, environment });
  client.watch('s', { onChange() {}, onEnd: assert.fail });
  await until(() => opened.length > 0);
  assert.deepEqual(opened, ['wss://sockets.example/live?token=token']);
  client.close();
});

test('addresses that are given are used, and nothing is asked', async () => {
  const { opened, environment } = sockets();
  const given = { streamUrl: 'https://own.example/api/v1', wsUrl: 'wss://own.example/ws' };
  const { client, requests } = fake([exported], { ...one, ...given, environment });
  await client.sessions.export('s');
  assert.deepEqual(
    requests.map((request) => request.url),
    ['https://own.example/api/v1/sessions/s/export'],
  );
  client.watch('s', { onChange() {} });
  await until(() => opened.length > 0);
  assert.deepEqual(opened, ['wss://own.example/ws?token=token']);
  client.close();
});

test('baseUrl is the earlier name of url', async () => {
  const given = { url: undefined, streamUrl: undefined, baseUrl: 'https://old.example/api/v1' };
  const { client, requests } = fake([ok(NAMED), exported], given);
  await client.sessions.export('s');
  assert.deepEqual(
    requests.map((request) => request.url),
    ['https://old.example/api/v1', 'https://streams.example/live/api/v1/sessions/s/export'],
  );
});

for (const [name, answer] of Object.entries({
  'has no such document': problem(404),
  'names nothing': ok({}),
  'names no addresses': ok({ stream_url: '/live', websocket_url: 'sockets' }),
  'answers with a page': () => new Response('<html>'),
  'is another server': json(200, 'hello'),
  'sends on to another one': () => Response.redirect('https://other.example/api/v1'),
  'names streams without encryption': ok({ ...NAMED, stream_url: 'http://streams.example' }),
  'names sockets without encryption': ok({ ...NAMED, websocket_url: 'ws://sockets.example' }),
})) {
  test(`a deployment that ${name} gets no token, and the caller is told what to pass`, async () => {
    const { client, requests } = fake([answer], one);
    for (const count of [1, 2]) {
      await assert.rejects(client.sessions.export('s'), {
        name: 'ArgumentError',
        message: /https:\/\/api\.example\/api\/v1 does not name .*: pass streamUrl and wsUrl/,
      });
      assert.equal(requests.length, count); // the next call asks again
    }
    for (const { headers } of requests) assert.equal(headers.authorization, undefined);
  });

  test(`watching a deployment that ${name} ends`, async () => {
    const { opened, environment } = sockets();
    const answers = [answer, silence]; // the thread is never read
    const { client } = fake(answers, { ...one, environment });
    const error = await new Promise((onEnd) => client.watch('s', { onChange() {}, onEnd }));
    assert.equal(error.name, 'ArgumentError');
    assert.deepEqual(opened, []);
  });
}

test('no redirect is followed', async () => {
  const asked = [];
  const fetch = async (url, { redirect }) => {
    asked.push([url, redirect]);
    return new Response(null, { status: 307, headers: { Location: 'https://other.example' } });
  };
  const client = new Rethread({ url: 'https://api.example', token: 't', fetch });
  await assert.rejects(client.sessions.export('s'), { name: 'ArgumentError' });
  assert.deepEqual(asked, [['https://api.example/api/v1', 'manual']]);
});

test('without encryption an answer may name either', async () => {
  const local = { stream_url: 'http://127.0.0.1:3000', websocket_url: 'ws://127.0.0.1:3001' };
  const { client, requests } = fake([ok(local), exported], {
    ...one,
    url: 'http://127.0.0.1:3000',
  });
  await client.sessions.export('s');
  assert.equal(requests[1].url, 'http://127.0.0.1:3000/api/v1/sessions/s/export');
});

test('an answer lasts for an hour, and longer while there is no other', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const moved = ok({ ...NAMED, stream_url: 'https://moved.example' });
  const script = [ok(NAMED), exported, exported, problem(403), exported, moved, exported];
  const { client, requests } = fake(script, one);
  const hosts = [];
  for (const minutes of [0, 59, 1, 60]) {
    t.mock.timers.tick(minutes * 60_000);
    await client.sessions.export('s');
    hosts.push(new URL(requests.at(-1).url).host);
  }
  const old = 'streams.example';
  assert.deepEqual(hosts, [old, old, old, 'moved.example']);
  assert.equal(requests.filter(({ url }) => url === 'https://api.example/api/v1').length, 3);
});

test('a failure is a failure of the call, and is repeated like one', async () => {
  const { client, requests } = fake([problem(503), ok(NAMED), exported], one);
  await client.sessions.export('s');
  assert.equal(requests.length, 3);
  const refused = fake([problem(403)], one);
  await assert.rejects(refused.client.sessions.export('s'), { status: 403 });
});

test('a question ends when no call waits for its answer', async () => {
  const signals = [];
  const hanging = ({ signal }) => {
    signals.push(signal);
    return silence({ signal });
  };
  const { client } = fake([hanging, hanging, ok(NAMED), exported], one);
  const controllers = [new AbortController(), new AbortController(), new AbortController()];
  const calls = controllers.map(({ signal }) => client.sessions.export('s', { signal }));
  await until(() => signals.length > 0);
  for (const [i, controller] of controllers.entries()) {
    assert.equal(signals[0].aborted, false, `after ${i} of 3 were aborted`);
    controller.abort(new Error('gone'));
    await assert.rejects(calls[i], /gone/);
  }
  await until(() => signals[0].aborted);
  await assert.rejects(client.sessions.export('s', { timeout: 1 }), { name: 'TimeoutError' });
  await until(() => signals[1].aborted);
  await client.sessions.export('s');
});

test('watching that is closed asks no more', async () => {
  const signals = [];
  const { environment } = sockets();
  const answer = ({ signal }) => {
    signals.push(signal);
    return silence({ signal });
  };
  const { client } = fake([answer], { ...one, environment });
  client.watch('s', { onChange() {}, onEnd: assert.fail });
  await until(() => signals.length === 2); // the addresses and the thread
  client.close();
  await until(() => signals.every(({ aborted }) => aborted));
});

test('without an address there is no client', () => {
  assert.throws(() => new Rethread({ token: 't' }), { name: 'ArgumentError', message: /^url: / });
});
