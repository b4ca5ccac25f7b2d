// What could never be sent, or would name something else, is refused before any request.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { ArgumentError, Rethread } from 'rethread';

import { fake, json, ok } from './fake.js';

const table = JSON.parse(
  readFileSync(new URL('../../cases/tables/arguments.json', import.meta.url), 'utf8'),
);

/** A call for each place of a path. */
const PLACES = [
  (c, name) => c.sessions.delete(name),
  (c, name) => c.artifacts.delete('s', name),
  (c, name) => c.artifacts.versions('s', name).all(),
  (c, name) => c.tasks.delete('s', name),
  (c, name) => c.runs.cancel('s', name),
  (c, name) => c.shares.revoke('s', name),
  (c, name) => c.webhooks.delivery('w', name),
  (c, name) => c.automations.delete(name),
  (c, name) => c.imports.abandon(name),
  (c, name) => c.a2a.deleteTask(name),
  (c, name) => c.sessions.export(name),
  (c, name) => watched(c, name),
];

/** Rejects when watching ends. */
const watched = (client, id) =>
  new Promise((_, reject) => {
    client.watch(id, { onChange: () => {}, onEnd: reject });
  });

class NoSocket {
  addEventListener() {}
  close() {}
}

const watching = { wsUrl: 'wss://live.example', environment: { WebSocket: NoSocket } };

const refusal = (name) => (error) => {
  assert.ok(error instanceof ArgumentError, `${error}`);
  assert.ok(error.message.startsWith(`${name}: `), error.message);
  assert.ok(!error.message.includes('secret'), error.message);
  return true;
};

test('the table has cases', () => {
  const sizes = Object.values(table).map((cases) => Object.keys(cases).length);
  const least = [17, 3, 4, 11, 7, 12];
  assert.ok(
    least.every((number, i) => sizes[i] >= number),
    `${sizes}`,
  );
});

test('a segment is escaped', async () => {
  for (const [name, segment] of Object.entries(table.segments)) {
    const { client, requests } = fake([json(204)]);
    await client.artifacts.delete('s', name);
    assert.equal(requests[0].path, `/api/v1/sessions/s/artifacts/${segment}`);
  }
});

test('what is no segment is refused', async () => {
  for (const name of [...table.no_segments, 'half \ud83d']) {
    for (const place of PLACES) {
      const { client, requests } = fake([ok([])], watching);
      await assert.rejects(async () => place(client, name), {
        name: 'ArgumentError',
        message: /is not an id$/,
      });
      assert.equal(requests.length, 0);
      client.close();
    }
  }
});

test('a token that cannot be sent is refused without telling it', async () => {
  for (const bad of table.no_tokens) {
    assert.throws(() => fake([], { token: bad }), refusal('token'));
    const own = fake([], { token: () => bad });
    await assert.rejects(own.client.fetch('https://api.example'), refusal('token'));
    for (const good of [bad, 'good']) {
      const token = ({ rejected }) => (rejected ? bad : good);
      for (const call of [(c) => c.sessions.get('s'), (c) => watched(c, 's')]) {
        const { client, requests } = fake([json(401, {})], { token, ...watching });
        await assert.rejects(call(client), refusal('token'));
        assert.equal(requests.length, good === bad ? 0 : 1);
        client.close();
      }
    }
  }
});

test('a token that cannot be sent ends watching over the websocket', async () => {
  const token = async () => 'secret\n';
  const { client } = fake([() => new Promise(() => {})], { token, ...watching });
  await assert.rejects(watched(client, 's'), refusal('token'));
});

test('tokens and addresses of every form are accepted', async () => {
  for (const token of table.tokens) {
    const { client, requests } = fake([ok({})], { token });
    await client.sessions.get('s');
    assert.equal(requests[0].headers.authorization, `Bearer ${token}`);
  }
  for (const url of table.addresses) new Rethread({ url, streamUrl: url, token: 't' });
  new Rethread({ url: '/api/v1', token: 't', fetch: () => {} }); // as a page has it
});

test('an address that cannot be asked is refused', () => {
  const good = 'https://api.example';
  for (const url of table.no_addresses) {
    assert.throws(() => new Rethread({ url, token: 't' }), refusal('url'));
    const streams = { url: good, token: 't', streamUrl: url };
    assert.throws(() => new Rethread(streams), refusal('streamUrl'));
  }
  for (const url of ['/api/v1', '//api.example/api/v1', '.']) {
    assert.throws(() => new Rethread({ url, token: 't' }), refusal('url'));
  }
  for (const wsUrl of ['live.example', 'ftp://live.example', '/live']) {
    assert.throws(() => new Rethread({ url: good, token: 't', wsUrl }), refusal('wsUrl'));
  }
});

test('watching says at once that it lacks a WebSocket, and asks nothing', () => {
  const { client, requests } = fake([], { environment: { WebSocket: undefined } });
  const error = { name: 'TypeError', message: /^watching needs .*WebSocket/ };
  assert.throws(() => client.watch('s', { onChange() {} }), error);
  assert.equal(requests.length, 0);
});

test('a header that cannot be sent is refused', async () => {
  const { client, requests } = fake([ok({})]);
  const key = client.sessions.create({}, { idempotencyKey: 'a\nb' });
  await assert.rejects(key, refusal('header Idempotency-Key'));
  const match = client.sessions.update('s', {}, { ifMatch: 'a\nb' });
  await assert.rejects(match, refusal('header If-Match'));
  const type = client.artifacts.put('s', 'a', { content: '', type: 'text/ü' });
  await assert.rejects(type, refusal('header Content-Type'));
  assert.equal(requests.length, 0);
});
