// A story with the Chat of @ai-sdk/react and the DefaultChatTransport of ai.
import {Chat} from '@ai-sdk/react';
import {DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls} from 'ai';

import {check, end, part, signedIn, url} from './checks.mjs';

const fetchImpl = await signedIn();
const api = `${url}/ai-sdk/scripted`;

// page is a page that shows a chat: with its messages, as at its load.
async function page(id = crypto.randomUUID(), options = {}) {
  const loaded = await fetchImpl(`${api}/${id}/messages`);
  const errors = [];
  const data = [];
  const chat = new Chat({
    id, messages: loaded.ok ? await loaded.json() : [],
    transport: new DefaultChatTransport({api, fetch: fetchImpl}),
    onError: (error) => void errors.push(error), onData: (one) => void data.push(one), ...options,
  });
  return {chat, errors, data};
}

const text = (m) => m.parts.filter((p) => p.type === 'text').map((p) => p.text).join('');
const texts = (chat) => chat.messages.map((m) => `${m.role}: ${text(m)}`).join('|');
const answered = (said) => `user: ${said}|assistant: You said: "${said}". That is all.`;
const stop = (chat) => fetchImpl(`${api}/${chat.id}/stop`, {method: 'POST'});
const plain = (value) => JSON.stringify(sorted(JSON.parse(JSON.stringify(value))));
const sorted = (value) => Array.isArray(value) ? value.map(sorted)
  : value && typeof value === 'object' ? Object.fromEntries(Object.keys(value).sort().map((k) => [k, sorted(value[k])])) : value;

async function until(what, condition) {
  for (let tries = 0; tries < 1200; tries++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`never: ${what}`);
}

// reloaded checks that a page shows after a reload what it showed before.
async function reloaded(what, chat) {
  const again = await page(chat.id);
  check(`${what}: the same after a reload`, plain(again.chat.messages) === plain(chat.messages), again.chat.messages, chat.messages);
  return again;
}

await part('start', async () => {
  const {chat, errors, data} = await page();
  await chat.sendMessage({text: 'hello'});
  check('start: an answer', texts(chat) === answered('hello'), texts(chat), errors.map(String));
  check('start: ready', chat.status === 'ready' && errors.length === 0, chat.status);
  check('start: the run and the state', data.map((d) => d.type).join() === 'data-rethread-run,data-rethread-state', data);
  await chat.sendMessage({text: 'again'});
  check('start: a second one', texts(chat) === `${answered('hello')}|${answered('again')}`, texts(chat));
  await reloaded('start', chat);
});

await part('resume', async () => {
  const first = await page();
  void first.chat.sendMessage({text: 'endless'});
  await until('streaming', () => text(first.chat.lastMessage ?? {parts: []}).includes('word1 '));
  const second = await page(first.chat.id);
  check('resume: the question is loaded', texts(second.chat) === 'user: endless', texts(second.chat));
  const resumed = second.chat.resumeStream();
  await until('resumed', () => text(second.chat.lastMessage).includes('word3 '));
  check('resume: from the beginning', text(second.chat.lastMessage).startsWith('word0 word1 '), texts(second.chat));
  check('resume: one answer with one id', second.chat.messages.length === 2 && second.chat.lastMessage.id === first.chat.lastMessage.id, second.chat.messages);
  await first.chat.stop();
  const before = text(second.chat.lastMessage);
  await until('going on', () => text(second.chat.lastMessage).length > before.length);
  check('resume: leaving does not stop', second.chat.status === 'streaming', second.chat.status);
  const stopped = await (await stop(second.chat)).json();
  await resumed;
  check('stop: the run is cancelled', stopped.status === 'cancelled', stopped);
  check('stop: the stream ends', second.chat.status === 'ready' && second.errors.length === 0, second.chat.status, second.errors.map(String));
  const third = await page(first.chat.id);
  await third.chat.resumeStream();
  check('stop: nothing resumes', third.chat.status === 'ready' && third.errors.length === 0, third.chat.status);
});

await part('stop', async () => {
  const {chat, errors} = await page();
  void chat.sendMessage({text: 'endless'});
  await until('streaming', () => text(chat.lastMessage ?? {parts: []}).includes('word1 '));
  await stop(chat); // as docs/frontends.md has it
  await chat.stop();
  check('stop: ready without an error', chat.status === 'ready' && errors.length === 0, chat.status, errors.map(String));
  const again = await page(chat.id);
  await again.chat.resumeStream();
  check('stop: nothing resumes after a reload', again.chat.status === 'ready' && text(again.chat.lastMessage).startsWith('word0 word1 '), texts(again.chat));
  await again.chat.sendMessage({text: 'hello'});
  check('stop: the chat goes on', texts(again.chat).endsWith(answered('hello')), texts(again.chat));
});

await part('reconnect', async () => {
  const user = `user-${crypto.randomUUID()}`;
  const token = async (seconds) => (await (await fetch(`${url}/dev/token`, {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({user_id: user, expires_in: seconds}),
  })).json()).token;
  let bearer = await token(8);
  const requests = [];
  const own = (input, init) => {
    requests.push(init.method);
    return fetch(input, {...init, headers: {...init.headers, Authorization: `Bearer ${bearer}`}});
  };
  let reconnect = false; // as docs/frontends.md has it
  const chat = new Chat({
    id: crypto.randomUUID(), transport: new DefaultChatTransport({api, fetch: own}),
    onData: (one) => { reconnect ||= one.type === 'data-rethread-reconnect'; },
    onFinish: () => {
      if (reconnect) void chat.resumeStream();
      reconnect = false;
    },
  });
  void chat.sendMessage({text: 'endless'});
  await until('streaming', () => chat.status === 'streaming');
  bearer = await token(3600);
  await until('resumed', () => requests.length === 2 && text(chat.lastMessage).includes('word60 '));
  check('reconnect: the stream goes on when its token has expired', requests.join() === 'POST,GET', requests);
  check('reconnect: with one whole message', chat.messages.length === 2 && text(chat.lastMessage).split('word7 ').length === 2, texts(chat));
  await own(`${api}/${chat.id}/stop`, {method: 'POST'});
  await until('stopped', () => chat.status === 'ready');
});

await part('busy', async () => {
  const first = await page();
  void first.chat.sendMessage({text: 'endless'});
  await until('streaming', () => first.chat.status === 'streaming');
  const second = await page(first.chat.id);
  await second.chat.sendMessage({text: 'hello'});
  check('busy: an error', second.chat.status === 'error' && String(second.errors[0]).includes('a run is in progress'), second.errors.map(String));
  await stop(first.chat);
  await until('stopped', () => first.chat.status === 'ready');
});

await part('regenerate', async () => {
  const {chat} = await page();
  await chat.sendMessage({text: 'one'});
  await chat.sendMessage({text: 'two'});
  const id = chat.lastMessage.id;
  await chat.regenerate();
  check('regenerate: another answer', chat.messages.length === 4 && chat.lastMessage.id !== id, chat.messages);
  await reloaded('regenerate', chat);
  await chat.regenerate({messageId: chat.messages[1].id});
  check('regenerate: an earlier answer', texts(chat) === answered('one'), texts(chat));
  await reloaded('regenerate: an earlier answer', chat);
});

await part('edit', async () => {
  const {chat} = await page();
  await chat.sendMessage({text: 'one'});
  await chat.sendMessage({text: 'two'});
  await chat.sendMessage({text: 'other', messageId: chat.messages[0].id});
  check('edit: the rest is gone', texts(chat) === answered('other'), texts(chat));
  await reloaded('edit', chat);
});

await part('tool', async () => {
  const {chat} = await page(undefined, {sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls});
  await chat.sendMessage({text: 'ask'});
  const call = chat.lastMessage.parts.find((p) => p.type === 'dynamic-tool');
  check('tool: a call waits', call?.state === 'input-available' && !call.providerExecuted, chat.lastMessage);
  await reloaded('tool', chat);
  await chat.addToolOutput({tool: call.toolName, toolCallId: call.toolCallId, output: 'no'});
  await until('answered', () => chat.status === 'ready' && text(chat.lastMessage) !== '');
  check('tool: its output is read', text(chat.lastMessage) === 'You decided: {"result":"no"}', texts(chat));
  check('tool: in the same message', chat.messages.length === 2, chat.messages);
  await reloaded('tool: answered', chat);
});

await part('others', async () => {
  const {chat, errors} = await page();
  await chat.sendMessage({text: 'think'});
  check('think: reasoning and text', chat.lastMessage.parts.map((p) => `${p.type} ${p.text ?? ''}`).join() === 'step-start ,reasoning Hm.,text Yes.', chat.lastMessage);
  await chat.sendMessage({text: 'file'});
  const file = chat.lastMessage.parts.find((p) => p.type === 'file');
  check('file: a part of the message', file?.mediaType === 'image/png' && file.url.startsWith('data:image/png;base64,'), chat.lastMessage);
  await reloaded('file', chat);
  await chat.sendMessage({text: 'fail'});
  check('fail: an error', chat.status === 'error' && errors.length === 1, errors.map(String));
  await chat.sendMessage({text: 'hello'});
  check('fail: a new message goes on', texts(chat).endsWith(answered('hello')), texts(chat));
  const foreign = new Chat({id: chat.id, transport: new DefaultChatTransport({api, fetch: await signedIn()})});
  await foreign.sendMessage({text: 'hello'});
  check('errors: a foreign session', String(foreign.error).includes('403') || foreign.error?.statusCode === 403 || foreign.status === 'error', String(foreign.error));
});

end();
