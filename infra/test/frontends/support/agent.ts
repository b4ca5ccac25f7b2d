// An agent whose answers are determined by its input. It speaks the agent protocol of
// docs/agent-protocol.md.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Part {
  text?: string;
  function_response?: { response: unknown };
}

interface Event {
  author: string;
  invocation_id: string;
  content?: { parts?: Part[] };
}

interface Input {
  run_id: string;
  events: Event[];
  state: Record<string, unknown>;
}

const PACE = 40; // milliseconds between two words

/** Starts the agent on a free port of this machine. */
export async function startAgent(): Promise<{ url: string; stop(): void }> {
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/`, stop };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const input: Input = JSON.parse(body);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const send = (type: string, data: unknown) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  const left = new Promise<void>((resolve) => response.once('close', resolve));
  await command(input, send, left);
  send('done', {});
  response.end();
}

const partsOf = (event?: Event) => event?.content?.parts ?? [];

type Send = (type: string, data: unknown) => void;

/** Carries out the first word of the input. */
async function command(input: Input, send: Send, left: Promise<void>): Promise<void> {
  const users = input.events.filter((event) => event.author === 'user');
  const own = users.filter((event) => event.invocation_id === input.run_id);
  const decided = own.flatMap(partsOf).filter((part) => part.function_response);
  const text = partsOf(own.at(-1))
    .map((part) => part.text ?? '')
    .join('');
  const [word, ...rest] = text.split(' ');
  const say = (said: string) => send('delta', { part: 0, text: said });
  const call = (name: string, args: unknown, more = {}) => {
    const part = { function_call: { id: `call-${input.run_id}`, name, args } };
    const id = `event-${input.run_id}`; // another item than a text in progress
    send('event', { id, content: { role: 'model', parts: [part] }, ...more });
  };
  if (decided.length > 0) {
    return say(
      `You decided: ${decided.map((d) => JSON.stringify(d.function_response?.response)).join(' and ')}`,
    );
  }
  switch (word) {
    case 'long':
      return words(Number(rest[0]), say, left);
    case 'late': // a question after some time
      await words(100, say, left);
      return call('confirm', {}, { long_running_tool_ids: [`call-${input.run_id}`] });
    case 'ask': // a call that the user has to answer
      return call('confirm', { amount: 7 }, { long_running_tool_ids: [`call-${input.run_id}`] });
    case 'color': // a call of the front end's tool
      return call('set_color', { color: rest[0] });
    case 'remember':
      send('event', { actions: { state_delta: { note: rest.join(' ') } } });
      return say('I remember.');
    case 'recall':
      return say(`The state is ${JSON.stringify(input.state)}.`);
    default:
      return say(`You said: "${text}" as message ${users.length}.`);
  }
}

async function words(
  count: number,
  say: (said: string) => void,
  left: Promise<void>,
): Promise<void> {
  for (let i = 1; i <= count; i++) {
    say(`word${i} `);
    const pause = new Promise<'next'>((resolve) => setTimeout(resolve, PACE, 'next'));
    if ((await Promise.race([left, pause])) !== 'next') return;
  }
}
