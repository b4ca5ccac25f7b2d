// A story with rethread/ai-sdk, in the Chat of @ai-sdk/react.
import {Chat} from '@ai-sdk/react';
import {lastAssistantMessageIsCompleteWithToolCalls} from 'ai';

import {RethreadChatTransport} from '../../../../clients/js/dist/ai-sdk/index.js';
import {ConflictError, ForbiddenError, NotFoundError} from '../../../../clients/js/dist/index.js';
import {check, end, part, readme} from './checks.mjs';
import {connect, tokenOf, until} from './cutting.mjs';

const {client, network, userId} = await connect();

// page is a page that shows a chat: with its messages, as at its load.
async function page(id = crypto.randomUUID(), options = {}) {
  const errors = [];
  const transport = new RethreadChatTransport({client: options.client ?? client, agent: 'team/scripted'});
  const messages = await transport.loadMessages(id);
  const chat = new Chat({id, messages, transport, onError: (error) => void errors.push(error), ...options.chat});
  return {chat, transport, errors};
}

const text = (m) => (m?.parts ?? []).filter((p) => p.type === 'text').map((p) => p.text).join('');
const texts = (chat) => chat.messages.map((m) => `${m.role}: ${text(m)}`).join('|');
const answered = (said) => `user: ${said}|assistant: You said: "${said}". That is all.`;
const words = (count) => Array.from({length: count}, (_, i) => `word${i} `).join('');
const plain = (value) => JSON.stringify(value, (_, v) => v && typeof v === 'object' && !Array.isArray(v)
  ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => a < b ? -1 : 1)) : v);
const runOf = async (chat) => client.runs.get(chat.id, chat.lastMessage.id);

await part('readme', async () => {
  const id = crypto.randomUUID();
  const made = await readme('useChat of the AI SDK', '{chat, transport}', 'Chat', 'RethreadChatTransport', 'client', 'id')(Chat, RethreadChatTransport, client, id);
  await made.chat.sendMessage({text: 'hello'});
  check('readme: an answer', texts(made.chat) === answered('hello'), texts(made.chat), String(made.chat.error));
});

await part('start', async () => {
  const {chat, errors} = await page();
  check('start: nothing yet', chat.messages.length === 0);
  for (const said of ['hello', 'again']) await chat.sendMessage({text: said});
  check('start: two answers', texts(chat) === `${answered('hello')}|${answered('again')}`, texts(chat), errors.map(String));
  const again = await page(chat.id);
  check('start: the same after a reload', plain(again.chat.messages) === plain(chat.messages), again.chat.messages, chat.messages);
  await again.chat.resumeStream();
  check('start: nothing resumes', again.chat.status === 'ready' && again.errors.length === 0, again.chat.status);
});

await part('cut', async () => {
  const {chat, errors} = await page();
  const shown = [];
  chat['~registerMessagesCallback'](() => shown.push(text(chat.lastMessage?.role === 'assistant' ? chat.lastMessage : null)));
  void chat.sendMessage({text: 'endless'});
  for (const at of [3, 8, 13]) {
    await until(`word${at}`, () => text(chat.lastMessage).includes(`word${at} `) && chat.lastMessage.role === 'assistant');
    if (at === 8) network.refused = 2;
    network.cut();
    check(`cut: streaming at ${at}`, chat.status === 'streaming', chat.status);
  }
  await until('after the cuts', () => text(chat.lastMessage).includes('word20 '));
  check('cut: every word once', text(chat.lastMessage).startsWith(words(20)), texts(chat));
  check('cut: never less than before', shown.every((now, i) => i === 0 || now.startsWith(shown[i - 1])), shown.length);
  check('cut: no error', errors.length === 0 && chat.messages.length === 2, errors.map(String));
  await chat.stop();
  check('stop: ready', chat.status === 'ready' && errors.length === 0, chat.status);
  await until('cancelled', async () => (await runOf(chat)).status === 'cancelled');
  const again = await page(chat.id);
  await again.chat.resumeStream();
  check('stop: nothing resumes after a reload', again.chat.status === 'ready' && text(again.chat.lastMessage).startsWith(words(20)), texts(again.chat));
  await again.chat.sendMessage({text: 'hello'});
  check('stop: the chat goes on', texts(again.chat).endsWith(answered('hello')), texts(again.chat));
});

await part('stop', async () => {
  const {chat, errors} = await page();
  void chat.sendMessage({text: 'endless'});
  await until('streaming', () => text(chat.lastMessage).includes('word1 '));
  await chat.stop();
  await chat.sendMessage({text: 'hello'});
  check('stop: a message right after it', texts(chat).endsWith(answered('hello')), texts(chat), errors.map(String));
  const early = await page();
  void early.chat.sendMessage({text: 'endless'});
  await until('submitted', () => early.chat.status === 'submitted');
  await early.chat.stop();
  await until('the early run is cancelled', async () => {
    const thread = await client.thread.get(early.chat.id).catch(() => null);
    return thread && thread.status !== 'in_progress' && thread.items.length > 0;
  });
  check('stop: before the response', early.chat.status === 'ready' && early.errors.length === 0, early.chat.status);
});

await part('resume', async () => {
  const first = await page();
  void first.chat.sendMessage({text: 'endless'});
  await until('streaming', () => text(first.chat.lastMessage).includes('word1 '));
  first.transport.close(); // as a page that is closed
  const second = await page(first.chat.id);
  check('resume: the question is loaded', texts(second.chat) === 'user: endless', texts(second.chat));
  const resumed = second.chat.resumeStream();
  await until('resumed', () => text(second.chat.lastMessage).includes('word5 '));
  network.cut();
  await until('resumed again', () => text(second.chat.lastMessage).includes('word12 '));
  check('resume: every word once', text(second.chat.lastMessage).startsWith(words(12)), texts(second.chat));
  network.refused = 1;
  network.cut();
  const id = await second.transport.stop(second.chat.id);
  check('resume: the run', id === second.chat.lastMessage.id, id);
  await resumed;
  check('resume: stopped meanwhile', second.chat.status === 'ready' && second.errors.length === 0, second.chat.status, second.errors.map(String));
  const loaded = await page(first.chat.id);
  check('resume: what is stored', text(loaded.chat.lastMessage) === text(second.chat.lastMessage), texts(loaded.chat), texts(second.chat));
});

await part('missed', async () => {
  const first = await page();
  const sent = first.chat.sendMessage({text: 'endless'});
  await until('streaming', () => text(first.chat.lastMessage).includes('word1 '));
  const second = await page(first.chat.id);
  await first.chat.stop();
  await sent;
  await until('cancelled', async () => (await runOf(first.chat)).status === 'cancelled');
  await second.chat.resumeStream();
  check('missed: a run that ended between loading and resuming', second.chat.messages.length === 2 && text(second.chat.lastMessage).startsWith('word0 word1 '), texts(second.chat));
  check('missed: as after a reload', plain((await page(first.chat.id)).chat.messages) === plain(second.chat.messages), second.chat.messages);
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
  const {chat, errors} = await page(undefined, {client: renewing.client});
  void chat.sendMessage({text: 'endless'});
  await until('after the token', () => renewed > 0 && text(chat.lastMessage).includes('word60 '));
  check('token: renewed once', renewed === 1, renewed);
  check('token: every word once', text(chat.lastMessage).startsWith(words(60)) && errors.length === 0, texts(chat), errors.map(String));
  await chat.stop();
});

await part('edits', async () => {
  const {chat} = await page();
  await chat.sendMessage({text: 'one'});
  await chat.sendMessage({text: 'two'});
  const {id} = chat.lastMessage;
  await chat.regenerate();
  check('edits: another answer', texts(chat) === `${answered('one')}|${answered('two')}` && chat.lastMessage.id !== id, texts(chat));
});

await part('regenerate', async () => {
  const {chat, errors} = await page();
  await chat.sendMessage({text: 'one'});
  await chat.sendMessage({text: 'other', messageId: chat.messages[0].id});
  check('edit: the rest is gone', texts(chat) === answered('other'), texts(chat));
  void chat.sendMessage({text: 'endless'});
  await until('streaming', () => text(chat.lastMessage).includes('word1 '));
  await chat.stop();
  void chat.regenerate();
  await until('regenerating', () => chat.status === 'streaming' && text(chat.lastMessage).includes('word2 '));
  network.cut();
  await until('goes on', () => text(chat.lastMessage).includes('word9 '));
  check('regenerate: goes on after a lost connection', text(chat.lastMessage).startsWith(words(9)) && chat.messages.length === 4, texts(chat), errors.map(String));
  await chat.stop();
});

await part('tool', async () => {
  const {chat} = await page(undefined, {chat: {sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls}});
  await chat.sendMessage({text: 'ask'});
  const call = chat.lastMessage.parts.find((p) => p.type === 'dynamic-tool');
  await chat.addToolOutput({tool: call.toolName, toolCallId: call.toolCallId, output: 'no'});
  await until('answered', () => chat.status === 'ready' && text(chat.lastMessage).includes('decided'));
  check('tool: its output is read', text(chat.lastMessage).endsWith('You decided: {"result":"no"}') && chat.messages.length === 2, texts(chat));
});

await part('errors', async () => {
  const {chat, errors} = await page();
  void chat.sendMessage({text: 'endless'});
  await until('streaming', () => text(chat.lastMessage).includes('word1 '));
  const busy = await page(chat.id);
  await busy.chat.sendMessage({text: 'hello'});
  check('errors: busy', busy.chat.error instanceof ConflictError && busy.chat.error.runId === chat.lastMessage.id, String(busy.chat.error));
  const {client: other} = await connect();
  const foreign = new Chat({id: chat.id, transport: new RethreadChatTransport({client: other, agent: 'team/scripted'})});
  await foreign.sendMessage({text: 'hello'});
  check('errors: a foreign chat', foreign.error instanceof ForbiddenError, String(foreign.error));
  const nobody = new Chat({transport: new RethreadChatTransport({client, agent: 'nobody'})});
  await nobody.sendMessage({text: 'hello'});
  check('errors: no such agent', nobody.error instanceof NotFoundError, String(nobody.error));
  client.close();
  await until('closed', () => chat.status === 'ready' && network.open.size === 0);
  check('errors: a closed client leaves no stream', errors.length === 0, errors.map(String));
  check('errors: the run goes on', (await runOf(chat)).status === 'in_progress');
  await new RethreadChatTransport({client, agent: 'team/scripted'}).stop(chat.id);
});

end();
