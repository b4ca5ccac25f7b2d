// A story with rethread/ag-ui: the verifier of @ag-ui/client refuses what the protocol does not allow.

import {ForbiddenError, NotFoundError, ConflictError} from '../../../../clients/js/dist/index.js';
import {RethreadAgent} from '../../../../clients/js/dist/ag-ui/index.js';
import {check, end, part, readme, throws} from './checks.mjs';
import {connect, tokenOf, until} from './cutting.mjs';

const {client, network, userId} = await connect();
console.error = () => {}; // @ag-ui/client logs each failed run

const frontEnd = (threadId = crypto.randomUUID(), more = {}) => new RethreadAgent({client, agent: 'team/scripted', threadId, ...more});
const say = (agent, content) => agent.addMessage({id: crypto.randomUUID(), role: 'user', content});
const texts = (agent) => agent.messages.map((m) => `${m.role}: ${m.content}`);
const last = (agent) => agent.messages.at(-1)?.content ?? '';
const answered = (text) => `assistant: You said: "${text}". That is all.`;
const words = (count) => Array.from({length: count}, (_, i) => `word${i} `).join('');

function recording(agent) {
  const seen = {types: [], errors: [], outcome: ''};
  agent.subscribe({
    onEvent: ({event}) => void seen.types.push(event.type),
    onRunErrorEvent: ({event}) => void seen.errors.push(event),
    onRunFinishedEvent: ({outcome}) => void (seen.outcome = outcome),
  });
  return seen;
}

await part('readme', async () => {
  const threadId = crypto.randomUUID();
  const agent = await readme('AG-UI', 'agent', 'RethreadAgent', 'client', 'threadId')(RethreadAgent, client, threadId);
  check('readme: an answer', texts(agent).join() === `user: Hello,${answered('Hello')}`, texts(agent));
});

await part('run and join', async () => {
  const agent = frontEnd();
  for (const text of ['hello', 'again']) {
    say(agent, text);
    await agent.runAgent();
  }
  check('run: two answers', texts(agent).join() === ['user: hello', answered('hello'), 'user: again', answered('again')].join(), texts(agent));
  const second = frontEnd(agent.threadId);
  await second.connectAgent();
  check('join: the same messages', JSON.stringify(second.messages) === JSON.stringify(agent.messages), second.messages);
});

await part('cut', async () => {
  const agent = frontEnd();
  const seen = recording(agent);
  say(agent, 'endless');
  const running = agent.runAgent({runId: 'run'});
  for (const at of [3, 8, 13]) {
    await until(`word${at}`, () => last(agent).includes(`word${at} `));
    if (at === 8) network.refused = 2;
    network.cut();
  }
  await until('after the cuts', () => last(agent).includes('word20 '));
  check('cut: every word once', last(agent).startsWith(words(20)) && agent.messages.length === 2, texts(agent));
  check('cut: nothing is reset', !seen.types.includes('MESSAGES_SNAPSHOT') && seen.errors.length === 0, seen.types.slice(0, 9));
  const joined = frontEnd(agent.threadId);
  const joining = joined.connectAgent();
  await until('joined', () => last(joined).includes('word22 '));
  network.cut();
  await until('joined again', () => last(joined).includes('word28 ') && last(agent).includes('word28 '));
  check('cut: a joined run, too', last(joined).startsWith(words(28)) && last(agent).startsWith(words(28)), texts(joined));
  agent.abortRun();
  await Promise.all([running, joining]);
  check('abortRun: cancels the run', (await client.runs.get(agent.threadId, 'run')).status === 'cancelled');
  check('abortRun: for all', texts(joined).length === 2, texts(joined));
});

await part('ended meanwhile', async () => {
  const agent = frontEnd();
  say(agent, 'endless');
  const running = agent.runAgent({runId: 'run'});
  await until('streaming', () => last(agent).includes('word3 '));
  const joined = frontEnd(agent.threadId);
  const joining = joined.connectAgent();
  await until('joined', () => last(joined).includes('word4 '));
  network.refused = 2;
  network.cut();
  await client.runs.cancel(agent.threadId, 'run').catch(() => client.runs.cancel(agent.threadId, 'run'));
  await Promise.all([running, joining]);
  const loaded = frontEnd(agent.threadId);
  await loaded.connectAgent();
  check('ended: the run', last(agent) === last(loaded), texts(agent), texts(loaded));
  check('ended: a joined run', last(joined) === last(loaded), texts(joined), texts(loaded));
});

await part('leave and stop', async () => {
  const agent = frontEnd(undefined, {onAbort: 'leave'});
  say(agent, 'endless');
  const running = agent.runAgent({runId: 'run'});
  await until('streaming', () => last(agent).includes('word1 '));
  agent.abortRun();
  await running;
  check('leave: the run goes on', (await client.runs.get(agent.threadId, 'run')).status === 'in_progress');
  check('stop: names the run', await agent.stop() === 'run');
  check('stop: cancels it', (await client.runs.get(agent.threadId, 'run')).status === 'cancelled');
  check('stop: once', await agent.stop() === null);
  say(agent, 'hello');
  await agent.runAgent();
  check('stop: the thread goes on', texts(agent).at(-1) === answered('hello'), texts(agent));
});

await part('token', async () => {
  let current = await tokenOf(userId, 4);
  let renewed = 0;
  const renewing = await connect(userId, async ({rejected}) => {
    if (rejected) {
      renewed++;
      current = await tokenOf(userId);
    }
    return current;
  });
  const agent = frontEnd(undefined, {client: renewing.client});
  const seen = recording(agent);
  say(agent, 'endless');
  const running = agent.runAgent();
  await until('after the token', () => renewed > 0 && last(agent).includes('word60 '));
  check('token: renewed once', renewed === 1, renewed);
  check('token: every word once', last(agent).startsWith(words(60)) && agent.messages.length === 2, texts(agent));
  check('token: nothing is reset', !seen.types.includes('MESSAGES_SNAPSHOT') && seen.errors.length === 0, seen.errors);
  agent.abortRun();
  await running;
});

await part('interrupt', async () => {
  const agent = frontEnd();
  say(agent, 'ask');
  await agent.runAgent();
  check('interrupt: a call waits', agent.pendingInterrupts[0]?.id === 'call-1', agent.pendingInterrupts);
  await agent.runAgent({resume: [{interruptId: 'call-1', status: 'resolved', payload: {approved: true}}]});
  check('interrupt: is answered', texts(agent).at(-1) === 'assistant: You decided: {"approved":true}', texts(agent));
});

await part('errors', async () => {
  const agent = frontEnd();
  say(agent, 'hello');
  await agent.runAgent({runId: 'r1'});
  const other = frontEnd(agent.threadId);
  say(other, 'other');
  check('errors: other input', (await throws('errors: refused', () => other.runAgent({runId: 'r1'}))) instanceof ConflictError);
  const foreign = frontEnd(agent.threadId, {client: (await connect()).client});
  check('errors: a foreign thread', (await throws('errors: refused', () => foreign.connectAgent())) instanceof ForbiddenError);
  check('errors: no such thread', (await throws('errors: refused', () => frontEnd().connectAgent())) instanceof NotFoundError);
  const running = frontEnd();
  say(running, 'endless');
  const left = running.runAgent({runId: 'run'});
  await until('streaming', () => last(running).includes('word1 '));
  client.close();
  await left;
  check('errors: a closed client leaves no stream', network.open.size === 0, network.open.size);
  check('errors: the run goes on', (await client.runs.get(running.threadId, 'run')).status === 'in_progress');
  await running.stop();
});

end();
