// A story with @a2a-js/sdk 1.x, over each interface that the agent's card offers.
import {Role, SendMessageRequest, TaskState} from '@a2a-js/sdk';
import {ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory} from '@a2a-js/sdk/client';

import {agent, check, end, part, signedIn, snippet, throws, url} from './checks.mjs';

const request = (text, more = {}, configuration = {}) =>
  SendMessageRequest.fromJSON({
    message: {messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{text}], ...more},
    configuration,
  });
const textOf = (task) => task.artifacts.flatMap((a) => a.parts.map((p) => p.content?.value)).join('');

const fetchImpl = await signedIn();
const legacyCompat = {enabled: true};
const cards = new DefaultAgentCardResolver({fetchImpl, legacyCompat});
const card = await cards.resolve(`${agent}/`);
check('four interfaces', card.supportedInterfaces.length === 4, card);
check('a bearer token', card.securitySchemes.bearer?.scheme?.value?.scheme === 'Bearer', card);
check('the rewind extension', card.capabilities.extensions.length === 1, card);

async function play(offered) {
  const name = `${offered.protocolVersion} over ${offered.protocolBinding}`;
  const is = (what, passed, ...shown) => check(`${name}: ${what}`, passed, ...shown);
  const transports = [new JsonRpcTransportFactory({fetchImpl, legacyCompat}), new RestTransportFactory({fetchImpl, legacyCompat})];
  const factory = new ClientFactory({transports, cardResolver: cards});
  const client = await factory.createFromAgentCard({...card, supportedInterfaces: [offered]});
  const old = offered.protocolVersion === '0.3';

  await part(`${name}: send`, async () => {
    const hello = request('hello');
    const task = await client.sendMessage(hello);
    is('completed', task.status.state === TaskState.TASK_STATE_COMPLETED, task);
    is('an answer', textOf(task) === 'You said: "hello". That is all.', task);
    const again = await client.getTask({id: task.id});
    is('the same task', textOf(again) === textOf(task), again);
    const repeated = await client.sendMessage(hello);
    is('a repeat gets the same task', repeated.id === task.id, repeated);
    const second = await client.sendMessage(request('again', {contextId: task.contextId}));
    is('the same context', second.contextId === task.contextId && second.id !== task.id, second);
    if (!old) {
      const list = await client.listTasks({contextId: task.contextId, pageSize: 10, pageToken: '', tenant: '', status: 0});
      is('a list', list.tasks.map((t) => t.id).join() === [second.id, task.id].join(), list);
    }
    const rewind = snippet('a2a-rewind.md', 'task', 'client', 'Role', 'contextId', 'invocationId');
    const back = await rewind(client, Role, task.contextId, second.id);
    is('a rewind', back.id === task.contextId && back.history.length === 2, back);
    const extended = await client.getAgentCard();
    is('an extended card', extended.skills.some((s) => s.id === 'rewind'), extended);
  });
  await part(`${name}: stream`, async () => {
    let state;
    let closing = '';
    let streamed = '';
    for await (const {payload} of client.sendMessageStream(request('hello'))) {
      if (payload.$case === 'task') {
        state = payload.value.status.state; // it may have ended already
        closing = streamed = textOf(payload.value);
      }
      if (payload.$case === 'statusUpdate') state = payload.value.status.state;
      if (payload.$case !== 'artifactUpdate') continue;
      const text = payload.value.artifact.parts.map((p) => p.content.value).join('');
      streamed = payload.value.append ? streamed + text : text;
      if (payload.value.lastChunk) closing = text;
    }
    is('ends completed', state === TaskState.TASK_STATE_COMPLETED, state);
    is('adds up', streamed === 'You said: "hello". That is all.' && closing === streamed, streamed, closing);
  });
  await part(`${name}: question and cancel`, async () => {
    const asked = await client.sendMessage(request('ask'));
    is('waits for input', asked.status.state === TaskState.TASK_STATE_INPUT_REQUIRED, asked);
    const drops = old && offered.protocolBinding === 'HTTP+JSON'; // this client drops the metadata of parts there
    is('a long-running call', drops || asked.status.message.parts.some((p) => p.metadata?.adk_is_long_running === true), asked);
    const done = await client.sendMessage(request('yes', {taskId: asked.id, contextId: asked.contextId}));
    is('the same task goes on', done.id === asked.id && done.status.state === TaskState.TASK_STATE_COMPLETED, done);
    const task = await client.sendMessage(request('endless', {}, {returnImmediately: true, blocking: false}));
    is('at work', task.status.state === TaskState.TASK_STATE_WORKING, task);
    const states = [];
    for await (const {payload} of client.resubscribeTask({id: task.id})) {
      if (payload.$case === 'task') await client.cancelTask({id: task.id});
      if (payload.$case === 'statusUpdate') states.push(payload.value.status.state);
    }
    is('the stream ends cancelled', states.at(-1) === TaskState.TASK_STATE_CANCELED, states);
    await throws(`${name}: cancelling it again`, () => client.cancelTask({id: task.id}));
  });
  await part(`${name}: push`, async () => {
    const {id: taskId} = await client.sendMessage(request('hello'));
    const made = await client.createTaskPushNotificationConfig({taskId, id: 'mine', url: 'http://127.0.0.1:9/hook', token: 't', tenant: ''});
    is('a configuration', made.id === 'mine' && made.url === 'http://127.0.0.1:9/hook', made);
    const got = await client.getTaskPushNotificationConfig({taskId, id: 'mine', tenant: ''});
    is('the same configuration', got.id === 'mine', got);
    const listed = await client.listTaskPushNotificationConfig({taskId, pageSize: 10, pageToken: '', tenant: ''});
    is('in the list', listed.configs.length === 1, listed);
    await client.deleteTaskPushNotificationConfig({taskId, id: 'mine', tenant: ''});
    const rest = await client.listTaskPushNotificationConfig({taskId, pageSize: 10, pageToken: '', tenant: ''});
    is('deleted', rest.configs.length === 0, rest);
  });
  await part(`${name}: errors`, async () => {
    const error = await throws(`${name}: an unknown task`, () => client.getTask({id: 'none'}));
    is('is a missing task', /task not found/i.test(`${error?.name} ${error?.message}`), error);
    await throws(`${name}: subscribing to it`, () => client.resubscribeTask({id: 'none'}).next());
    const nothing = request('x');
    nothing.message.parts = [];
    await throws(`${name}: a message without parts`, () => client.sendMessage(nothing));
    await throws(`${name}: a stream without parts`, () => client.sendMessageStream(nothing).next());
    const failed = await client.sendMessage(request('fail'));
    is('failed', failed.status.state === TaskState.TASK_STATE_FAILED, failed);
  });
}

await Promise.all(card.supportedInterfaces.map(play));
const refused = await fetch(`${url}/a2a/scripted`, {method: 'POST', body: '{}'});
check('a challenge', refused.status === 401 && refused.headers.get('www-authenticate') === 'Bearer', refused.status);
end();
