// A user with much of everything, as everyday use leaves it after a year.

import { randomUUID } from 'node:crypto';
import { expect } from '@playwright/test';
import { Api } from './api.ts';
import { ARABIC, fill, LONG } from './full-content.ts';
import { startReceiver } from './receiver.ts';
import { fork, rewind } from './rewinding.ts';
import { share } from './sharing.ts';

const CHATS = 200;
const FORKS = 12;
const RULES = 12; // webhooks and automations each; 20 are the most

export interface Full {
  user: string;
  /** A chat with long tables, code, files, two directions, forks, rewinds and shares. */
  chat: string;
  /** A chat whose agent waits for answers. */
  asking: string;
  /** A chat that another user shares, to read. */
  read: string;
  /** The secret of a link to a chat of another user. */
  token: string;
  webhook: string;
  delivery: string;
  automation: string;
}

export async function fullUser(url: string): Promise<Full> {
  const user = `ada-${randomUUID().slice(0, 8)}`;
  const api = new Api(url, user);
  for (let n = 0; n < CHATS; n += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => api.createSession({ name: nameOf(n + i) })),
    );
  }
  const hooks = await webhooks(api);
  const automation = await automations(api);
  const { read, token } = await shared(url, user);
  const asking = await questions(api);
  const chat = await family(api);
  return { user, chat, asking, read, token, automation, ...hooks };
}

const NAMES = [LONG, ARABIC, '', 'Bread with less salt', 'What the tax office wants to know of me'];
const nameOf = (n: number) => NAMES[n % NAMES.length] ?? '';

/** Appends the events of a turn: what the user and the agent say. */
export async function tell(
  api: Api,
  session: string,
  invocation_id: string,
  asked: object[],
  parts: object[],
  actions: object = {},
): Promise<void> {
  const events = [
    ...(asked.length > 0 ? [{ author: 'user', content: { role: 'user', parts: asked } }] : []),
    { author: 'guide', content: { role: 'model', parts }, actions },
  ];
  await api.send('POST', `/sessions/${session}/events`, {
    events: events.map((event) => ({ invocation_id, ...event })),
  });
}

async function family(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: `${LONG} ${ARABIC}` });
  const said = await fill(api, id);
  for (let n = 0; n < FORKS; n++) {
    const { id: forked } = await fork(api, id, n % 3 ? `Idea ${n}` : nameOf(n), said[1 + (n % 3)]);
    await api.say(forked, [`What about ${n % 2 ? LONG : ARABIC}?`, 'Good.']);
  }
  const [hidden] = await api.say(id, ['And by car?', 'A car is of little use there.']);
  await rewind(api, id, hidden);
  await api.say(id, ['Where does one stay?', 'In Graça: quiet, and a tram away.']);
  for (const [n, taskId] of said.entries()) {
    const feedbackText = n % 2 ? `${LONG} ${ARABIC}` : '';
    await api.send('POST', '/feedback', {
      taskId,
      sessionId: id,
      feedbackType: n % 2 ? 'up' : 'down',
      feedbackText,
    });
  }
  for (let n = 0; n < 8; n++)
    await share(api, id, { access: 'read', user_id: `${LONG.slice(0, 100)}-${n}` });
  await share(api, id, { access: 'write', expires_in: 3600 });
  return id;
}

async function questions(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'Approvals' });
  const originalFunctionCall = { id: 'p0', name: 'pay_the_hotel_in_advance', args: { to: LONG } };
  const schema = {
    type: 'object',
    properties: { size: { type: 'integer' }, gift: { type: 'boolean' } },
  };
  const calls = [
    { id: 'q1', name: 'adk_request_confirmation', args: { originalFunctionCall } },
    { id: 'q2', name: 'choose', args: { question: `${ARABIC}؟`, choices: ['Red', LONG, 'Blue'] } },
    { id: 'q3', name: 'parcel', args: { question: LONG, response_schema: schema } },
  ];
  const parts = calls.map((function_call) => ({ function_call }));
  await tell(api, id, 'asks', [{ text: 'Book it.' }], parts);
  return id;
}

async function webhooks(api: Api): Promise<{ webhook: string; delivery: string }> {
  const receiver = await startReceiver();
  const address = `${receiver.url}/${'averylongpath'.repeat(12)}`;
  let webhook = '';
  for (let n = 0; n < RULES; n++) {
    const description = n % 2 ? nameOf(n).slice(0, 100) : '';
    const filter = {
      types: ['session.*', 'run.failed'],
      session_ids: ['none', LONG.slice(0, 100)],
    };
    const url = `${address}?n=${n}`;
    webhook = idOf(await api.send('POST', '/webhooks', { url, description, ...filter }));
  }
  const delivery = idOf(await api.send('POST', `/webhooks/${webhook}/test`));
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await receiver.stop();
  return { webhook, delivery };
}

async function automations(api: Api): Promise<string> {
  let id = '';
  for (let n = 0; n < RULES; n++) {
    const input = `${ARABIC} ${LONG} {{session_id}}`;
    id = idOf(
      await api.send('POST', '/automations', {
        name: (nameOf(n) || 'Second look').slice(0, 100),
        on: { types: ['feedback.created'], session_ids: ['none'] },
        do: { agent: 'default', input },
      }),
    );
  }
  return id;
}

// Another user shares chats with the user, and has a link that is not accepted.
async function shared(url: string, user_id: string): Promise<{ read: string; token: string }> {
  const owner = new Api(url, `${LONG.slice(0, 100)}-${randomUUID().slice(0, 8)}`);
  const { id: read } = await owner.createSession({ name: `${ARABIC} ${LONG}` });
  await owner.say(read, [ARABIC, LONG]);
  await share(owner, read, { access: 'read', user_id });
  const { id } = await owner.createSession({ name: 'For all' });
  await share(owner, id, { access: 'write', user_id });
  return { read, token: (await share(owner, id, { access: 'read' })).token ?? '' };
}

const idOf = (answer: unknown): string => (answer as { data: { id: string } }).data.id;
