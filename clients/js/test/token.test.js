import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import { advance, Server } from './fake-server.js';

let server;
let asked;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  server = new Server();
  asked = [];
  let current = 1;
  server.options = {
    token: ({ rejected }) => {
      asked.push(rejected);
      if (rejected === `t${current}`) current++;
      return `t${current}`;
    },
  };
});

const connects = () => server.asked.filter((what) => what.startsWith('connect'));

test('asks for another token when a connection is refused with 401', async () => {
  const watching = server.watch();
  await server.open();
  server.answer('error', { status: 401 });
  await advance(300);
  await server.open();
  assert.deepEqual(connects(), ['connect t1', 'connect t2']);
  assert.deepEqual(
    asked.filter((rejected) => rejected),
    ['t1'],
  );
  watching.close();
});

test('asks for another token once when no connection opens', async () => {
  const watching = server.watch();
  await advance(0);
  for (let failures = 0; failures < 5; failures++) {
    server.socket.dispatchEvent(new Event('close'));
    await advance(30_000);
  }
  assert.deepEqual(
    connects(),
    ['t1', 't1', 't2', 't2', 't2', 't2'].map((token) => `connect ${token}`),
  );
  watching.close();
});
