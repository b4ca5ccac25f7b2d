// A story with @ag-ui/client, in the package of the first argument: its verifier refuses
// what the protocol does not allow.

import {check, end, part, signedIn, throws, url} from './checks.mjs';

const {HttpAgent} = await import(process.argv[2]);
const old = process.argv[2] !== '@ag-ui/client'; // before 1.0: no outcome but interrupt
const fetchImpl = await signedIn();
const base = `${url}/agui/scripted`;

// Front end that joins threads: `connect` is what @ag-ui/client leaves to subclasses.
class JoiningAgent extends HttpAgent {
  connect(input) {
    return new HttpAgent({url: `${this.url}/connect`, headers: this.headers, fetch: this.fetch}).run(input);
  }
}

const frontEnd = (threadId = crypto.randomUUID()) => new JoiningAgent({url: base, threadId, fetch: fetchImpl});
const say = (agent, content, id = crypto.randomUUID()) => agent.messages.push({id, role: 'user', content});
const texts = (agent) => agent.messages.map((m) => `${m.role}: ${m.content}`);
const answered = (text) => `assistant: You said: "${text}". That is all.`;

// recording returns a subscriber and what it was called with.
function recording() {
  const seen = {types: [], errors: [], deltas: ''};
  return [seen, {
    onEvent: ({event}) => void seen.types.push(event.type),
    onTextMessageContentEvent: ({event}) => void (seen.deltas += event.delta),
    onRunErrorEvent: ({event}) => void seen.errors.push(event),
    onRunFinishedEvent: (params) => void (seen.finished = params),
  }];
}

await part('run', async () => {
  const agent = frontEnd();
  say(agent, 'hello');
  const [seen, subscriber] = recording();
  const {newMessages} = await agent.runAgent({runId: 'r1'}, subscriber);
  check('run: an answer', newMessages.length === 1 && newMessages[0].content === 'You said: "hello". That is all.', newMessages);
  check('run: from its beginning to its end', seen.types[0] === 'RUN_STARTED' && seen.types.at(-1) === 'RUN_FINISHED', seen.types);
  check('run: a state', seen.types[1] === 'STATE_SNAPSHOT' && JSON.stringify(agent.state) === '{}', agent.state);
  say(agent, 'again');
  await agent.runAgent();
  check('run: a second one', texts(agent).at(-1) === answered('again') && agent.messages.length === 4, texts(agent));
  const same = frontEnd(agent.threadId);
  say(same, 'hello', agent.messages[0].id);
  await same.runAgent({runId: 'r1'});
  check('run: the same one again', texts(same).at(-1) === answered('hello'), texts(same));
  check('run: with the same ids', same.messages[1].id === newMessages[0].id, same.messages);
});

await part('join', async () => {
  const agent = frontEnd();
  say(agent, 'hello');
  await agent.runAgent();
  const second = frontEnd(agent.threadId);
  await second.connectAgent();
  check('join: the same messages', JSON.stringify(second.messages) === JSON.stringify(agent.messages), second.messages);
});

await part('leave', async () => {
  const agent = frontEnd();
  say(agent, 'endless');
  const left = agent.runAgent({runId: 'left'}, {onTextMessageContentEvent: () => agent.abortRun()}).catch(() => undefined);
  await left;
  const second = frontEnd(agent.threadId);
  const [seen, subscriber] = recording();
  let stopped;
  subscriber.onTextMessageContentEvent = () => {
    stopped ??= fetchImpl(`${base}/threads/${agent.threadId}/stop`, {method: 'POST'});
  };
  await second.connectAgent({}, subscriber);
  const answer = await (await stopped).json();
  check('leave: the run goes on', answer.runId === 'left' && answer.status === 'cancelled', answer);
  check('leave: until it is stopped', (old ? seen.finished : seen.finished?.outcome === 'cancelled') || seen.finished?.event?.outcome?.type === 'cancelled', seen);
});

await part('busy', async () => {
  const agent = frontEnd();
  say(agent, 'endless');
  let first;
  await new Promise((resolve) => {
    first = agent.runAgent({runId: 'first'}, {onTextMessageStartEvent: () => resolve()});
  });
  const joined = frontEnd(agent.threadId);
  say(joined, 'hello');
  const [seen, subscriber] = recording();
  await joined.runAgent({}, subscriber);
  const [error] = seen.errors;
  check('busy: an error of the protocol', error?.code === 'run_in_progress' && error.metadata?.rethread?.run_id === 'first', error);
  await fetchImpl(`${base}/threads/${agent.threadId}/stop`, {method: 'POST'});
  await first;
});

await part('edit', async () => {
  const agent = frontEnd();
  for (const text of ['one', 'two', 'three']) {
    say(agent, text);
    await agent.runAgent();
  }
  agent.setMessages(agent.messages.slice(0, 2));
  say(agent, 'other');
  await agent.runAgent();
  const second = frontEnd(agent.threadId);
  await second.connectAgent();
  const want = ['user: one', answered('one'), 'user: other', answered('other')].join();
  check('edit: the thread is rewound', texts(second).join() === want, texts(second));
  check('edit: as the front end shows it', texts(agent).join() === want, texts(agent));
});

await part('short', async () => {
  const agent = frontEnd();
  for (const text of ['one', 'two']) {
    agent.setMessages([]);
    say(agent, text);
    await agent.runAgent();
  }
  const second = frontEnd(agent.threadId);
  await second.connectAgent();
  check('short: a list of the last message rewinds nothing', second.messages.length === 4, texts(second));
});

await part('interrupt', async () => {
  const agent = frontEnd();
  say(agent, 'ask');
  await agent.runAgent();
  const [interrupt] = agent.pendingInterrupts;
  check('interrupt: a call waits', interrupt?.id === 'call-1' && interrupt.toolCallId === 'call-1', agent.pendingInterrupts);
  await throws('interrupt: has to be answered', () => agent.runAgent());
  await agent.runAgent({resume: [{interruptId: 'call-1', status: 'resolved', payload: {approved: true}}]});
  check('interrupt: is answered', texts(agent).at(-1) === 'assistant: You decided: {"approved":true}', texts(agent));
  check('interrupt: once', agent.pendingInterrupts.length === 0, agent.pendingInterrupts);
});

await part('tool', async () => {
  const agent = frontEnd();
  say(agent, 'ask');
  const tools = [{name: 'confirm', description: 'Asks the person.', parameters: {type: 'object'}}];
  await agent.runAgent({tools});
  check('tool: no interrupt', agent.pendingInterrupts.length === 0, agent.pendingInterrupts);
  const call = agent.messages.flatMap((m) => m.toolCalls ?? []).at(-1);
  check('tool: a call with its arguments', call?.function.arguments === '{"amount":9007199254740993}', call);
  agent.messages.push({id: 't1', role: 'tool', toolCallId: call.id, content: 'no'});
  await agent.runAgent({tools});
  check('tool: its result is read', texts(agent).at(-1) === 'assistant: You decided: {"result":"no"}', texts(agent));
});

await part('others', async () => {
  const agent = frontEnd();
  say(agent, 'think');
  await agent.runAgent();
  check('think: reasoning and text', texts(agent).join() === 'user: think,reasoning: Hm.,assistant: Yes.', texts(agent));
  say(agent, 'fail');
  const [seen, subscriber] = recording();
  await agent.runAgent({}, subscriber);
  check('fail: the code of the agent', seen.errors[0]?.code === 'scripted' && seen.deltas === 'This goes well, ', seen);
  const parts = [];
  say(agent, 'file');
  await agent.runAgent({}, {onCustomEvent: ({event}) => void parts.push(event)});
  check('file: a custom event', parts[0]?.name === 'rethread.part' && parts[0].value.part.inline_data.display_name === 'dot.png', parts);
  agent.state = {color: 'red', nested: {n: 1}};
  say(agent, 'hello');
  await agent.runAgent();
  const second = frontEnd(agent.threadId);
  await second.connectAgent();
  check('state: of the front end', JSON.stringify(second.state) === '{"color":"red","nested":{"n":1}}', second.state);
});

await part('errors', async () => {
  const agent = frontEnd();
  say(agent, 'hello');
  await agent.runAgent({runId: 'r1'});
  const other = frontEnd(agent.threadId);
  say(other, 'other');
  check('errors: other input', (await throws('errors: refused', () => other.runAgent({runId: 'r1'})))?.status === 409);
  const foreign = new HttpAgent({url: base, threadId: agent.threadId, fetch: await signedIn()});
  say(foreign, 'hello');
  check('errors: a foreign thread', (await throws('errors: refused', () => foreign.runAgent()))?.status === 403);
  const nobody = new HttpAgent({url: `${url}/agui/nobody`, fetch: fetchImpl});
  check('errors: no such agent', (await throws('errors: refused', () => nobody.runAgent()))?.status === 404);
});

end();
