import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import { pass, Server } from './fake-server.js';

let server;

beforeEach(async () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  server = new Server();
  server.reasons = [];
  server.watch({
    onEnd: ({ status, reason }) => {
      server.ends.push(status);
      server.reasons.push(reason);
    },
  });
  await server.open();
  server.wantAsked('connect t', 'thread', 'subscribe 0.0.0');
});

const unsubscribed = (reason, status) => ({ type: 'unsubscribed', session_id: 's', reason, status });
const refusal = { status: 403, title: 'Forbidden', detail: 'no' };

for (const reason of ['revoked', 'expired']) {
  test(`a right that is ${reason} is the end once the server says so`, async () => {
    server.socket.get(unsubscribed(reason, 403));
    await pass(250);
    server.wantAsked('subscribe 0.0.0');
    server.answer('error', refusal);
    await pass(10 * 60_000);
    assert.deepEqual([server.ends, server.reasons, server.socket.closed], [[403], [reason], true]);
    server.wantAsked();
  });
}

test('who has another right goes on', async () => {
  server.socket.get(unsubscribed('revoked', 403));
  await pass(250);
  server.wantAsked('subscribe 0.0.0');
  server.answer('subscribed');
  await pass(60_000);
  server.wantAsked();
  server.socket.get(unsubscribed('expired', 403));
  await pass(250);
  server.answer('error', refusal);
  assert.deepEqual([server.ends, server.reasons], [[403], ['expired']]);
});

test('whoever is put out before the answer came asks again after it', async () => {
  server.socket.get(unsubscribed('revoked', 403));
  await pass(250);
  server.socket.get(unsubscribed('revoked', 403));
  server.answer('subscribed');
  server.wantAsked('subscribe 0.0.0');
  await pass(500);
  server.wantAsked('subscribe 0.0.0');
  server.answer('error', refusal);
  assert.deepEqual(server.ends, [403]);
});

test('a refusal without that has no reason', async () => {
  server.socket.dispatchEvent(new Event('close'));
  await pass(250);
  server.socket.dispatchEvent(new Event('open'));
  server.answer('error', refusal);
  assert.deepEqual([server.ends, server.reasons], [[403], [undefined]]);
});

test('a token that has ended takes another connection', async () => {
  server.socket.get(unsubscribed('token_expired', 401));
  await pass(250);
  await server.open();
  server.wantAsked('connect t', 'subscribe 0.0.0');
  assert.deepEqual(server.ends, []);
});

test('the answer to who unsubscribes is nothing new', async () => {
  server.answer('unsubscribed');
  await pass(1000);
  server.wantAsked();
});
