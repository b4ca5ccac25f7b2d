import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import { advance, Server } from './fake-server.js';

let server;

beforeEach(async () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  server = new Server();
  server.reasons = [];
  server.changes = 0;
  server.watch({
    onAccess: () => server.changes++,
    onEnd: ({ status, reason }) => {
      server.ends.push(status);
      server.reasons.push(reason);
    },
  });
  await server.open();
  server.wantAsked('connect t', 'thread', 'subscribe 0.0.0');
});

const unsubscribed = (reason, status) => ({
  type: 'unsubscribed',
  session_id: 's',
  reason,
  status,
});
const refusal = { status: 403, title: 'Forbidden', detail: 'no' };

for (const reason of ['revoked', 'expired']) {
  test(`ends with reason ${reason} when the next subscription is rejected`, async () => {
    server.socket.receive(unsubscribed(reason, 403));
    await advance(250);
    server.wantAsked('subscribe 0.0.0');
    server.answer('error', refusal);
    await advance(10 * 60_000);
    assert.deepEqual([server.ends, server.reasons, server.socket.closed], [[403], [reason], true]);
    server.wantAsked();
  });
}

test('continues if access remains', async () => {
  server.socket.receive(unsubscribed('revoked', 403));
  await advance(250);
  server.wantAsked('subscribe 0.0.0');
  assert.equal(server.changes, 0);
  server.answer('subscribed');
  await advance(60_000);
  server.wantAsked();
  assert.equal(server.changes, 1);
  server.socket.receive(unsubscribed('expired', 403));
  await advance(250);
  server.answer('error', refusal);
  assert.deepEqual([server.ends, server.reasons], [[403], ['expired']]);
});

test('subscribes again after the answer if a subscription ended before it', async () => {
  server.socket.receive(unsubscribed('revoked', 403));
  await advance(250);
  server.socket.receive(unsubscribed('revoked', 403));
  server.answer('subscribed');
  server.wantAsked('subscribe 0.0.0');
  await advance(500);
  server.wantAsked('subscribe 0.0.0');
  server.answer('error', refusal);
  assert.deepEqual(server.ends, [403]);
});

test('ends without a reason when only a subscription is rejected', async () => {
  server.socket.dispatchEvent(new Event('close'));
  await advance(250);
  server.socket.dispatchEvent(new Event('open'));
  server.answer('error', refusal);
  assert.deepEqual([server.ends, server.reasons], [[403], [undefined]]);
});

test('reconnects when the token has expired', async () => {
  server.socket.receive(unsubscribed('token_expired', 401));
  await advance(250);
  await server.open();
  server.wantAsked('connect t', 'subscribe 0.0.0');
  assert.deepEqual(server.ends, []);
});

test('ignores the answer to an unsubscribe', async () => {
  server.answer('unsubscribed');
  await advance(1000);
  server.wantAsked();
});
