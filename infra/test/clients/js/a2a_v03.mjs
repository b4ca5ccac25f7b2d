// A story with @a2a-js/sdk 0.3, over both bindings.
import {ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory} from 'a2a-js-sdk-0.3/client';

import {agent, check, end, part, signedIn, throws} from './checks.mjs';

const params = (text, more = {}, configuration) => ({
  message: {kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{kind: 'text', text}], ...more},
  configuration,
});
const textOf = (task) => (task.artifacts ?? []).flatMap((a) => a.parts.map((p) => p.text)).join('');

const fetchImpl = await signedIn();
const cardResolver = new DefaultAgentCardResolver({fetchImpl});
const card = await cardResolver.resolve(`${agent}/`);
check('a bearer token', card.securitySchemes.bearer.type === 'http' && card.securitySchemes.bearer.scheme === 'Bearer', card);

async function play(binding) {
  const name = `0.3 over ${binding}`;
  const is = (what, passed, ...shown) => check(`${name}: ${what}`, passed, ...shown);
  const transports = [new JsonRpcTransportFactory({fetchImpl}), new RestTransportFactory({fetchImpl})];
  const factory = new ClientFactory({transports, cardResolver, preferredTransports: [binding]});
  const client = await factory.createFromAgentCard({...card, preferredTransport: binding, additionalInterfaces: []});

  await part(`${name}: send`, async () => {
    const hello = params('hello');
    const task = await client.sendMessage(hello);
    is('completed', task.kind === 'task' && task.status.state === 'completed', task);
    is('an answer', textOf(task) === 'You said: "hello". That is all.', task);
    is('the same task', textOf(await client.getTask({id: task.id})) === textOf(task));
    const repeated = await client.sendMessage(hello);
    is('a repeat gets the same task', repeated.id === task.id, repeated);
    const extended = await client.getAgentCard();
    is('an extended card', extended.skills.some((s) => s.id === 'rewind'), extended);
  });
  await part(`${name}: stream`, async () => {
    let last;
    let closing = '';
    for await (const event of client.sendMessageStream(params('hello'))) {
      if (event.kind === 'task') {
        last = event.status.state; // it may have ended already
        closing = textOf(event);
      }
      if (event.kind === 'status-update') last = event.status.state;
      if (event.kind === 'artifact-update' && event.lastChunk) closing = event.artifact.parts.map((p) => p.text).join('');
    }
    is('ends completed', last === 'completed', last);
    is('the last update has everything', closing === 'You said: "hello". That is all.', closing);
  });
  await part(`${name}: cancel`, async () => {
    const task = await client.sendMessage(params('endless', {}, {blocking: false}));
    is('at work', task.status.state === 'working', task);
    const states = [];
    for await (const event of client.resubscribeTask({id: task.id})) {
      if (event.kind === 'task') await client.cancelTask({id: task.id});
      if (event.kind === 'status-update') states.push(event.status.state);
    }
    is('the stream ends cancelled', states.at(-1) === 'canceled', states);
    await throws(`${name}: cancelling it again`, () => client.cancelTask({id: task.id}));
  });
  await part(`${name}: push`, async () => {
    const {id: taskId} = await client.sendMessage(params('hello'));
    const none = await client.listTaskPushNotificationConfig({id: taskId});
    is('no configuration', Array.isArray(none) && none.length === 0, none);
    await client.setTaskPushNotificationConfig({taskId, pushNotificationConfig: {id: 'mine', url: 'http://127.0.0.1:9/hook'}});
    const got = await client.getTaskPushNotificationConfig({id: taskId, pushNotificationConfigId: 'mine'});
    is('a configuration', got.pushNotificationConfig.url === 'http://127.0.0.1:9/hook', got);
    await client.deleteTaskPushNotificationConfig({id: taskId, pushNotificationConfigId: 'mine'});
    const rest = await client.listTaskPushNotificationConfig({id: taskId});
    is('deleted', rest.length === 0, rest);
  });
  await part(`${name}: errors`, async () => {
    await throws(`${name}: an unknown task`, () => client.getTask({id: 'none'}));
    const error = await throws(`${name}: subscribing to it`, () => client.resubscribeTask({id: 'none'}).next());
    is('is a missing task', /task not found/i.test(`${error?.name} ${error?.message}`), error?.message);
    await throws(`${name}: a stream without parts`, () => client.sendMessageStream(params('x', {parts: []})).next());
    const failed = await client.sendMessage(params('fail'));
    is('failed', failed.status.state === 'failed', failed);
  });
}

await Promise.all(['JSONRPC', 'HTTP+JSON'].map(play));
end();
