// The client has a method for each operation of the contract, and sends what the contract says.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { parse } from 'yaml';

import { cut, fake, json, ok } from './fake.js';

const METHODS = {
  listSessions: (c) => c.sessions.list({ agent: 'a' }),
  createSession: (c, o) => c.sessions.create({}, o),
  getSession: (c) => c.sessions.get('s/1'),
  updateSession: (c, o) => c.sessions.update('s', { name: 'n' }, o),
  deleteSession: (c) => c.sessions.delete('s'),
  getState: (c) => c.state.get('s'),
  listEvents: (c) => c.events.list('s', { view: 'all' }),
  appendEvents: (c, o) => c.events.append('s', { events: [{}] }, o),
  exportSession: (c) => c.sessions.export('s'),
  importSession: (c, o) => c.imports.start({}, {}, o),
  importPart: (c) => c.imports.part('i', 2, {}),
  abandonImport: (c) => c.imports.abandon('i'),
  listAutomations: (c) => c.automations.list(),
  createAutomation: (c, o) => c.automations.create({}, o),
  getAutomation: (c) => c.automations.get('a'),
  changeAutomation: (c, o) => c.automations.update('a', {}, o),
  deleteAutomation: (c) => c.automations.delete('a'),
  listShares: (c) => c.shares.list('s'),
  shareSession: (c, o) => c.shares.create('s', {}, o),
  revokeShare: (c) => c.shares.revoke('s', 'x'),
  leaveSession: (c) => c.sessions.leave('s'),
  acceptShare: (c) => c.shares.accept('t'),
  getErasure: (c) => c.me.erasure(),
  eraseMyData: (c) => c.me.erase(),
  getMyUsage: (c) => c.me.usage(),
  getThread: (c) => c.thread.get('s', { order: 'desc' }),
  startRun: (c, o) => c.runs.start('s', { input: [] }, o),
  listRuns: (c) => c.runs.list('s').all(),
  listRunRequests: (c) => c.runs.requests('s', 'r').all(),
  getRun: (c) => c.runs.get('s', 'r'),
  updateRun: (c) => c.runs.update('s', 'r', {}),
  cancelRun: (c) => c.runs.cancel('s', 'r'),
  pushDeltas: (c, o) => c.runs.pushDeltas('s', 'r', {}, o),
  pushRunEvents: (c, o) => c.runs.pushEvents('s', 'r', {}, o),
  listArtifacts: (c) => c.artifacts.list('s'),
  getArtifact: (c) => c.artifacts.get('s', 'a b.txt', { version: 0 }),
  putArtifact: (c) => c.artifacts.put('s', 'a', { content: 'x', invocation_id: 'i' }),
  deleteArtifact: (c) => c.artifacts.delete('s', 'a'),
  listArtifactVersions: (c) => c.artifacts.versions('s', 'a'),
  rewindSession: (c, o) => c.sessions.rewind('s', { rewind_before_invocation_id: 'i' }, o),
  forkSession: (c, o) => c.sessions.fork('s', {}, o),
  getForks: (c) => c.sessions.forks('s'),
  listTasks: (c) => c.tasks.list('s'),
  saveTask: (c, o) => c.tasks.save('s', {}, o),
  getTask: (c) => c.tasks.get('s', 't'),
  deleteTask: (c) => c.tasks.delete('s', 't'),
  listMessages: (c) => c.messages.list('s'),
  listFeedback: (c) => c.feedback.list(),
  giveFeedback: (c, o) => c.feedback.give({}, o),
  listWebhooks: (c) => c.webhooks.list(),
  createWebhook: (c, o) => c.webhooks.create({}, o),
  getWebhook: (c) => c.webhooks.get('w'),
  updateWebhook: (c, o) => c.webhooks.update('w', {}, o),
  deleteWebhook: (c) => c.webhooks.delete('w'),
  testWebhook: (c, o) => c.webhooks.test('w', o),
  getWebhookSecret: (c) => c.webhooks.secret('w'),
  rotateWebhookSecret: (c, o) => c.webhooks.rotateSecret('w', {}, o),
  listDeliveries: (c) => c.webhooks.deliveries('w'),
  getDelivery: (c) => c.webhooks.delivery('w', 'd'),
  replayDelivery: (c, o) => c.webhooks.replay('w', 'd', o),
  listA2ATasks: (c) => c.a2a.tasks('s'),
  saveA2ATask: (c) => c.a2a.saveTask({}),
  getA2ATask: (c) => c.a2a.task('t'),
  deleteA2ATask: (c) => c.a2a.deleteTask('t'),
  getDefaultAgentCard: (c) => c.a2a.card(),
  getAgentCard: (c) => c.a2a.card('a'),
  getNotificationKeys: (c) => c.a2a.keys(),
};

// Operations that clients use in another way.
const OTHERWISE = {
  watchSession: 'client.watch, over a websocket',
  callAgent: 'an SDK of A2A with client.fetch',
  getFromAgent: 'an SDK of A2A with client.fetch',
  postToAgent: 'an SDK of A2A with client.fetch',
  deleteFromAgent: 'an SDK of A2A with client.fetch',
  runAgent: 'a client of AG-UI with client.fetch',
  connectAgent: 'a client of AG-UI with client.fetch',
  joinThread: 'a client of AG-UI with client.fetch',
  stopThread: 'a client of AG-UI with client.fetch',
  chatWithAgent: 'DefaultChatTransport with client.fetch',
  resumeChat: 'DefaultChatTransport with client.fetch',
  listChatMessages: 'useChat with client.fetch',
  stopChat: 'useChat with client.fetch',
  createResponse: "OpenAI's SDK",
  getResponse: "OpenAI's SDK",
  deleteResponse: "OpenAI's SDK",
  cancelResponse: "OpenAI's SDK",
  listInputItems: "OpenAI's SDK",
  createConversation: "OpenAI's SDK",
  getConversation: "OpenAI's SDK",
  updateConversation: "OpenAI's SDK",
  deleteConversation: "OpenAI's SDK",
  listItems: "OpenAI's SDK",
  addItems: "OpenAI's SDK",
  getItem: "OpenAI's SDK",
  deleteItem: "OpenAI's SDK",
  listModels: "OpenAI's SDK",
  getModel: "OpenAI's SDK",
  callMCP: 'a client of the Model Context Protocol',
  streamMCP: 'nobody: it is answered 405',
  endMCP: 'nobody: it is answered 405',
  getMCPMetadata: 'a client of the Model Context Protocol',
  getApiMetadata: 'a client of OAuth',
  getAddresses: 'the client itself, when it needs them',
};

// A repeat stores another version.
const NOT_REPEATED = ['putArtifact'];

const contract = parse(
  readFileSync(new URL('../../../infra/openapi.yaml', import.meta.url), 'utf8'),
);
const operations = Object.entries(contract.paths).flatMap(([path, item]) =>
  ['get', 'put', 'post', 'patch', 'delete']
    .filter((method) => item[method])
    .map((method) => ({
      id: item[method].operationId,
      method: method.toUpperCase(),
      path: (item.servers ? '' : '/api/v1') + path,
      headers: [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map(named),
    })),
);

function named({ $ref, name }) {
  return $ref ? contract.components.parameters[$ref.split('/').at(-1)].name : name;
}

/** Makes a call against answers, and returns its requests. */
async function requestsOf(id, answers, options) {
  const { client, requests } = fake(answers);
  await METHODS[id](client, options);
  return requests;
}

const empty = ok([], { 'X-Next-Cursor': '' });

test('has a method for every operation of the contract', (t) => {
  const known = [...Object.keys(METHODS), ...Object.keys(OTHERWISE)].sort();
  assert.deepEqual(operations.map(({ id }) => id).sort(), known);
  assert.ok(operations.length >= 70, `only ${operations.length} operations`);
  t.diagnostic(`${operations.length} operations`);
});

for (const { id, method, path, headers } of operations.filter(({ id }) => id in METHODS)) {
  test(`${id} sends what the contract says`, async () => {
    const [request] = await requestsOf(id, [empty]);
    assert.equal(request.method, method);
    assert.match(request.path, new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`));
    assert.equal(request.headers.authorization, 'Bearer token');
    assert.equal('idempotency-key' in request.headers, headers.includes('Idempotency-Key'));
  });

  if (headers.includes('Idempotency-Key')) {
    test(`${id} repeats the same key and body after a lost answer`, async () => {
      const [first, second] = await requestsOf(id, [cut, empty]);
      assert.deepEqual(second, first);
      const [own] = await requestsOf(id, [empty], { idempotencyKey: 'mine' });
      assert.equal(own.headers['idempotency-key'], 'mine');
    });
  }

  if (headers.includes('If-Match')) {
    test(`${id} sends If-Match and does not repeat it after a lost answer`, async () => {
      const { client, requests } = fake([cut, empty]);
      await assert.rejects(METHODS[id](client, { ifMatch: '"1"' }), { name: 'ConnectionError' });
      assert.deepEqual(
        requests.map(({ headers }) => headers['if-match']),
        ['"1"'],
      );
    });
  }

  test(`${id} is repeated after 429${NOT_REPEATED.includes(id) ? ' only' : ' and 503'}`, async () => {
    assert.equal((await requestsOf(id, [json(429, {}), empty])).length, 2);
    if (!NOT_REPEATED.includes(id)) {
      assert.equal((await requestsOf(id, [json(503, {}), empty])).length, 2);
      return;
    }
    await assert.rejects(requestsOf(id, [json(503, {}), empty]), { status: 503 });
    await assert.rejects(requestsOf(id, [cut, empty]), { name: 'ConnectionError' });
  });

  if (method === 'DELETE') {
    test(`${id} succeeds when its repeat finds nothing`, async () => {
      const requests = await requestsOf(id, [cut, id === 'eraseMyData' ? empty : json(404, {})]);
      assert.equal(requests.length, 2);
    });
  }
}
