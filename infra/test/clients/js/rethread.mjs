// A story with the built package of clients/js: the whole API except what only other programs use.
import {
  ConflictError, ForbiddenError, NotFoundError, PreconditionFailedError, Rethread, UnauthorizedError, ValidationError,
} from '../../../../clients/js/dist/index.js';

import {check, end, part, throws, url} from './checks.mjs';

const userId = `user-${crypto.randomUUID()}`;

async function tokenOf(user_id) {
  const headers = {'Content-Type': 'application/json'};
  const answer = await fetch(`${url}/dev/token`, {method: 'POST', headers, body: JSON.stringify({user_id})});
  return (await answer.json()).token;
}

const token = await tokenOf(userId);
const client = new Rethread({url, token});
const ask = (text) => ({input: [{content: {role: 'user', parts: [{text}]}}]});

/** Starts a run and waits until it has ended. */
async function answered(id, text) {
  const {run} = await client.runs.start(id, ask(text));
  for (;;) {
    const now = await client.runs.get(id, run.id);
    if (now.status !== 'in_progress') return now;
    await new Promise((done) => setTimeout(done, 50));
  }
}

const session = await client.sessions.create({agent: 'scripted', name: 'A story', state: {region: 'EMEA'}});
check('a session', session.status === 'idle' && session.user_id === userId, session);

await part('sessions', async () => {
  let etag;
  await client.sessions.get(session.id, {onResponse: ({headers}) => { etag = headers.get('ETag'); }});
  const renamed = await client.sessions.update(session.id, {name: 'Renamed'}, {ifMatch: etag});
  check('a change of the read version', renamed.name === 'Renamed', renamed);
  const stale = await throws('a change of an older version', () => client.sessions.update(session.id, {name: 'x'}, {ifMatch: etag}));
  check('412', stale instanceof PreconditionFailedError, stale);
  const ids = [];
  for await (const {id} of client.sessions.list({limit: 1})) ids.push(id);
  check('the list', ids.includes(session.id), ids);
  check('the state', (await client.state.get(session.id)).session.region === 'EMEA');
});

await part('writes that are repeated', async () => {
  const idempotencyKey = crypto.randomUUID();
  const [one, two] = [await client.sessions.create({}, {idempotencyKey}), await client.sessions.create({}, {idempotencyKey})];
  check('the same session', one.id === two.id, one, two);
  const lost = new Rethread({url, token, random: () => 0, fetch: losing(1)});
  const created = await lost.sessions.create({name: 'once'});
  const found = (await client.sessions.list({q: 'once'}).all()).filter(({name}) => name === 'once');
  check('one session despite a lost answer', found.length === 1 && found[0].id === created.id, found);
  await lost.sessions.delete(created.id);
  const removing = new Rethread({url, token, random: () => 0, fetch: losing(1)});
  await removing.sessions.delete(one.id);
  check('deleted despite a lost answer', (await client.sessions.get(one.id).catch((error) => error)) instanceof NotFoundError);
});

/** A fetch that loses the first answers. */
function losing(count) {
  return async (...request) => {
    const response = await fetch(...request);
    if (count-- <= 0) return response;
    await response.arrayBuffer();
    throw new TypeError('lost');
  };
}

await part('runs, rewind and fork', async () => {
  const first = await answered(session.id, 'one');
  const second = await answered(session.id, 'two');
  check('completed', first.status === 'completed' && second.status === 'completed', first, second);
  const thread = await client.thread.get(session.id);
  check('the thread', thread.items.length >= 4 && thread.status === 'idle', thread);
  const fork = await client.sessions.fork(session.id, {rewind_before_invocation_id: second.id, strict: true});
  check('a fork', fork.fork.session_id === session.id, fork);
  const tree = await client.sessions.forks(session.id);
  check('the tree', tree.id === session.id && tree.children[0].id === fork.id, tree);
  const rewound = await client.sessions.rewind(session.id, {rewind_before_invocation_id: second.id});
  check('a rewind', rewound.session.epoch === 1, rewound);
  const shown = await client.events.list(session.id, {limit: 1}).all();
  check('as the fork', shown.length === (await client.events.list(fork.id).all()).length, shown);
  check('nothing is lost', (await client.events.list(session.id, {view: 'all'}).all()).length > shown.length);
  const again = await client.runs.cancel(session.id, first.id);
  check('a cancel of a run that has ended changes nothing', again.status === 'idle', again);
});

await part('an external run', async () => {
  const {run} = await client.runs.start(session.id, {...ask('external'), mode: 'external', agent: 'elsewhere'});
  const conflict = await throws('a second run', () => client.runs.start(session.id, ask('too early')));
  check('names the run', conflict instanceof ConflictError && conflict.runId === run.id, conflict);
  const item_id = `${run.id}.1`;
  const pushed = await client.runs.pushDeltas(session.id, run.id, {item_id, author: 'elsewhere', deltas: [{part: 0, text: 'Hel'}]});
  check('an offset', pushed.offset === 1, pushed);
  const content = {role: 'model', parts: [{text: 'Hello'}]};
  const events = await client.runs.pushEvents(session.id, run.id, {events: [{id: item_id, author: 'elsewhere', content}]});
  check('completed', events[0].status === 'completed', events);
  const ended = await client.runs.update(session.id, run.id, {status: 'completed'});
  check('ended', ended.status === 'completed', ended);
  await client.events.append(session.id, {events: [{invocation_id: 'own', author: 'user', content}]});
});

await part('artifacts', async () => {
  const version = await client.artifacts.put(session.id, 'a b.txt', {content: 'text', invocation_id: 'files'});
  check('a version', version.version === 0 && version.mime_type.startsWith('text/plain'), version);
  const large = 'x'.repeat(8 << 20);
  await client.artifacts.put(session.id, 'large', {content: new Blob([large])});
  check('the bytes', (await (await client.artifacts.get(session.id, 'a b.txt')).text()) === 'text');
  check('more than a request holds', (await client.artifacts.get(session.id, 'large')).size === large.length);
  const names = (await client.artifacts.list(session.id).all()).map(({name}) => name);
  check('the list', names.includes('a b.txt') && names.includes('large'), names);
  await client.artifacts.delete(session.id, 'a b.txt');
  check('one version is left', (await client.artifacts.versions(session.id, 'large').all()).length === 1);
});

await part('tasks and feedback', async () => {
  const message_bubbles = [{id: 'b1', type: 'agent', text: 'Hello'}];
  const saved = await client.tasks.save(session.id, {task_id: 't1', message_bubbles});
  check('saved', saved.task_id === 't1', saved);
  check('the task', (await client.tasks.get(session.id, 't1')).session_id === session.id);
  check('the list', (await client.tasks.list(session.id, {limit: 1}).all()).length === 1);
  check('the messages', (await client.messages.list(session.id, {limit: 1}).all()).length === 1);
  await client.feedback.give({taskId: 't1', feedbackType: 'up', sessionId: session.id});
  check('the feedback', (await client.feedback.list({session_id: session.id}).all())[0].type === 'up');
  check('in the form of A2A', (await client.a2a.tasks(session.id)).length > 0);
  const a2a = {id: 't2', contextId: session.id, kind: 'task', status: {state: 'completed'}, history: []};
  check('an A2A task', (await client.a2a.saveTask(a2a)).id === 't2' && (await client.a2a.task('t2')).id === 't2');
  await client.a2a.deleteTask('t2');
  await client.tasks.delete(session.id, 't1');
});

await part('sharing', async () => {
  const other = new Rethread({url, token: await tokenOf(`${userId}-2`)});
  check('refused', (await other.sessions.get(session.id).catch((error) => error)) instanceof ForbiddenError);
  const share = await client.shares.create(session.id, {access: 'read', link: true});
  check('accepted', (await other.shares.accept(share.token)).session_id === session.id, share);
  check('readable', (await other.sessions.get(session.id)).id === session.id);
  check('listed', (await client.shares.list(session.id).all()).length === 1);
  await other.sessions.leave(session.id);
  await client.shares.revoke(session.id, share.id);
});

await part('webhooks and automations', async () => {
  const hook = await client.webhooks.create({url: 'https://receiver.example/hook', types: ['run.completed']});
  check('a webhook', (await client.webhooks.list().all()).some(({id}) => id === hook.id), hook);
  await client.webhooks.update(hook.id, {types: ['run.*']});
  const before = await client.webhooks.secret(hook.id);
  check('another secret', (await client.webhooks.rotateSecret(hook.id)).secret !== before.secret);
  const sent = await client.webhooks.test(hook.id);
  check('a delivery', (await client.webhooks.delivery(hook.id, sent.id)).id === sent.id, sent);
  check('deliveries', (await client.webhooks.deliveries(hook.id).all()).length === 1);
  await client.webhooks.delete(hook.id);
  const rule = await client.automations.create({name: 'r', on: {types: ['task.saved']}, do: {agent: 'scripted', input: 'hi'}});
  check('an automation', (await client.automations.get(rule.id)).name === 'r', rule);
  await client.automations.update(rule.id, {name: 'other'});
  await client.automations.delete(rule.id);
});

await part('export, import and the end', async () => {
  const archive = await (await client.sessions.export(session.id)).json();
  check('complete', archive.complete === true);
  await client.sessions.delete(session.id);
  const copy = await client.imports.start(archive, {id: `copy-${crypto.randomUUID()}`});
  check('imported', copy.complete && copy.session.name === 'Renamed', copy);
  check('usage', (await client.me.usage()) !== undefined);
  check('erased', ['in_progress', 'complete'].includes((await client.me.erase()).status));
  check('the erasure', (await client.me.erasure()).started_time > 0);
});

await part('errors', async () => {
  const broken = await throws('a wrong body', () => client.sessions.create({name: 'x'.repeat(300)}));
  check('with a pointer', broken instanceof ValidationError && broken.errors[0].pointer === '/name', broken);
  const nobody = new Rethread({url, token: 'none'});
  check('401', (await nobody.sessions.get('s').catch((error) => error)) instanceof UnauthorizedError);
  const asked = [];
  const renewing = new Rethread({url, token: ({rejected}) => { asked.push(rejected); return rejected ? token : 'expired'; }});
  const missing = await throws('a session that does not exist', () => renewing.sessions.get('none'));
  check('404 with a renewed token', missing instanceof NotFoundError && asked.length === 2, missing, asked);
  const response = await client.fetch(`${url}/a2a/scripted`, {method: 'POST', body: '{}'});
  check('an authorized fetch for A2A', response.status !== 401, response.status);
});

end();
