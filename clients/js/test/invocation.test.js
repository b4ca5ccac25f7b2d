import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cut, fake, ok } from './fake.js';

const ONE = { author: 'user' };

const ids = (requests) => requests.map(({ body }) => JSON.parse(body).events.map(({ id }) => id));

test('appends at the same time get different numbers, in the order of the calls', async () => {
  const { client, requests } = fake([ok([])]);
  const writer = client.events.invocation('s', 'i');
  await Promise.all([writer.append([ONE, ONE]), writer.append([ONE]), writer.append([ONE])]);
  assert.deepEqual(ids(requests), [['i.1', 'i.2'], ['i.3'], ['i.4']]);
});

test('a batch that may have been stored is appended again with the same ids', async () => {
  const { client, requests } = fake([cut, cut, cut, cut, cut, ok([])]);
  const writer = client.events.invocation('s');
  await assert.rejects(writer.append([ONE]), { name: 'ConnectionError' });
  await writer.append([ONE]);
  assert.deepEqual(ids(requests), Array(6).fill([`${writer.id}.1`]));
});

test('an id of its own is refused', async () => {
  const { client, requests } = fake([ok([])]);
  const writer = client.events.invocation('s', 'i');
  await assert.rejects(writer.append([ONE, { ...ONE, id: 'own' }]), TypeError);
  await assert.rejects(writer.append([{ ...ONE, invocation_id: 'i' }]), TypeError);
  assert.equal(requests.length, 0);
});
