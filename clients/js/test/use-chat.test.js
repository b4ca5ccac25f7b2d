// useChat with the transport of `rethread/ai-sdk`, in React's strict mode, in jsdom.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { JSDOM } from 'jsdom';
import { RethreadChatTransport } from 'rethread/ai-sdk';

import { StreamServer, until } from './fake-streams.js';

const { window } = new JSDOM('<!doctype html><div id="page"></div>');
Object.assign(globalThis, {
  window,
  document: window.document,
  IS_REACT_ACT_ENVIRONMENT: true,
});
Object.defineProperty(globalThis, 'navigator', { value: window.navigator, configurable: true });
const { act, createElement: h, StrictMode } = await import('react');
const { createRoot } = await import('react-dom/client');
const { Chat, useChat } = await import('@ai-sdk/react');

const head = [
  { type: 'start', messageId: 'r1' },
  { type: 'data-rethread-run', data: { run_id: 'r1', session_id: 'c' }, transient: true },
  { type: 'start-step' },
  { type: 'text-start', id: 'e:0' },
  { type: 'text-delta', id: 'e:0', delta: 'One ' },
];
const RESUME = 'GET /ai-sdk/a/c/stream';

/** Shows a chat in strict mode, and returns what the hook returned last and how to unmount it. */
async function show(options) {
  const server = new StreamServer();
  const client = server.client();
  const transport = new RethreadChatTransport({ client, agent: 'a' });
  const shown = { server, client };
  function Page() {
    shown.chat = useChat({ ...options(transport), resume: true });
    return null;
  }
  const root = createRoot(document.getElementById('page'));
  await act(async () => root.render(h(StrictMode, null, h(Page))));
  await act(() => until('a stream', () => server.streams.some(({ left }) => !left)));
  shown.stream = server.streams.find(({ left }) => !left);
  await act(async () => shown.stream.send(...head));
  const text = () => shown.chat.messages.at(-1)?.parts.at(-1)?.text;
  await act(() => until('a text', () => text() === 'One '));
  shown.unmount = () => act(async () => root.unmount());
  return shown;
}

test('strict mode resumes a chat and stops no run', async (t) => {
  const shown = await show((transport) => ({ id: 'c', transport }));
  const { server, client, stream, unmount } = shown;
  t.after(() => client.close());
  assert.deepEqual([...new Set(server.asked)], [RESUME]);
  assert.equal(server.streams.filter(({ left }) => !left).length, 1);
  await act(async () => stream.send({ type: 'finish' }).end());
  await act(() => until('ready', () => shown.chat.status === 'ready'));
  await unmount();
  assert.deepEqual([...new Set(server.asked)], [RESUME]);
});

test('a chat that is made outside goes on when its component is unmounted', async () => {
  let made = null;
  const make = (transport) => {
    made ??= new Chat({ id: 'c', transport });
    return { chat: made };
  };
  const { server, client, stream, unmount } = await show(make);
  await unmount();
  stream.send({ type: 'text-delta', id: 'e:0', delta: 'two' });
  await until('the rest', () => made.lastMessage.parts.at(-1).text === 'One two');
  assert.deepEqual([...new Set(server.asked)], [RESUME]);
  client.close();
  await until('left', () => stream.left);
  assert.ok(
    server.streams.every(({ left }) => left),
    'no stream is left',
  );
});
