// Watches a session, closes the client at the given moment, and must then end by itself.

import { Rethread } from 'rethread';
import { RethreadChatTransport } from 'rethread/ai-sdk';
import { WebSocket } from 'ws';

import { Hub } from '../dist/react/hub.js';

const [when, port] = process.argv.slice(2);
const nowhere = 'ws://127.0.0.1:1';
const client = new Rethread({
  url: `http://127.0.0.1:${port}`,
  streamUrl: `http://127.0.0.1:${port}`,
  wsUrl: when === 'when offline' ? nowhere : `ws://127.0.0.1:${port}`,
  token: 't',
  environment: { WebSocket },
});

let closed = false;

function close() {
  if (closed) return;
  closed = true;
  client.close();
  process.stdout.write(`closed ${Math.round(performance.now())}\n`);
}

let reads = 0;
client.watch('s', {
  onChange: () => {
    reads++;
  },
  onConnection: ({ state }) => {
    if (state === when.replace('when ', '')) close();
  },
  onEnd: (error) => {
    throw error;
  },
});
client.watch('another', { onChange: () => {} });
if (when === 'at once') close();
if (when === 'while a thread is read') queueMicrotask(close);
if (when === 'while hooks read') {
  const hub = new Hub(client);
  const stores = [hub.thread('s'), hub.sessions({}), hub.tree('s')];
  for (const store of stores) store.subscribe(() => stores.every(({ get }) => get()) && close());
}
if (when === 'while a stream is read') {
  const transport = new RethreadChatTransport({ client, agent: 'a' });
  const stream = await transport.reconnectToStream({ chatId: 'c' });
  for await (const chunk of stream) if (chunk.type === 'start') break;
  const other = await transport.reconnectToStream({ chatId: 'c' });
  const reading = other.getReader();
  await reading.read();
  const ended = reading.read().catch(({ name }) => name);
  close();
  if ((await ended) !== 'AbortError') process.exitCode = 1;
}
process.on('exit', () => {
  if (when === 'when live' && reads === 0) process.exitCode = 1;
});
