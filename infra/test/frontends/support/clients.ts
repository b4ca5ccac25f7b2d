// The clients of a page of another origin than the system's: those of docs/frontends.md and of A2A,
// without a framework around them, and Rethread's own. Each asks an agent, and returns its answer.

import { type Artifact, SendMessageRequest } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { HttpAgent as HttpAgent0 } from '@ag-ui/client';
import { Chat } from '@ai-sdk/react';
import { HttpAgent as HttpAgent1 } from 'ag-ui-client-1.0';
import { DefaultChatTransport } from 'ai';
import OpenAI from 'openai';
import { Rethread } from '../../../../clients/js/dist/index.js';

export interface System {
  url: string;
  token: string;
}

type Ask = (system: System, text: string) => Promise<string>;

const headersOf = ({ token }: System) => ({ Authorization: `Bearer ${token}` });
const user = (content: string) => ({ id: crypto.randomUUID(), role: 'user' as const, content });

const clients: Record<string, Ask> = {
  'openai: a response': async (system, text) =>
    (await openai(system).create({ model: 'demo', input: text })).output_text,
  'openai: a stream': async (system, text) => {
    let said = '';
    for await (const event of await openai(system).create({
      model: 'demo',
      input: text,
      stream: true,
    })) {
      if (event.type === 'response.output_text.delta') said += event.delta;
    }
    return said;
  },
  '@ag-ui/client 0.0': async (system, text) => {
    const agent = new HttpAgent0({ url: `${system.url}/agui/demo`, headers: headersOf(system) });
    agent.messages = [user(text)];
    return String((await agent.runAgent()).newMessages.at(-1)?.content);
  },
  '@ag-ui/client 1.0': async (system, text) => {
    const agent = new HttpAgent1({ url: `${system.url}/agui/demo`, headers: headersOf(system) });
    agent.messages = [user(text)];
    return String((await agent.runAgent()).newMessages.at(-1)?.content);
  },
  'ai, @ai-sdk/react': async (system, text) => {
    const transport = new DefaultChatTransport({
      api: `${system.url}/ai-sdk/demo`,
      headers: headersOf(system),
    });
    const problems: Error[] = [];
    const chat = new Chat({ transport, onError: (error) => void problems.push(error) });
    await chat.sendMessage({ text });
    if (problems[0]) throw problems[0];
    return (chat.messages.at(-1)?.parts ?? [])
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('');
  },
  '@a2a-js/sdk': async (system, text) => {
    const fetchImpl: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('Authorization', headersOf(system).Authorization);
      return fetch(input, { ...init, headers });
    };
    const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver,
    });
    const client = await factory.createFromUrl(`${system.url}/a2a/demo/`);
    const parts = [{ text }];
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts };
    let said = '';
    for await (const { payload } of client.sendMessageStream(
      SendMessageRequest.fromJSON({ message }),
    )) {
      if (payload?.$case === 'task') said = payload.value.artifacts.map(textOf).join('');
      if (payload?.$case !== 'artifactUpdate') continue;
      const { append, artifact } = payload.value;
      said = (append ? said : '') + textOf(artifact);
    }
    return said;
  },
  rethread: async ({ url, token }, text) => {
    const client = new Rethread({ url, token: async () => token });
    const { id } = await client.sessions.create({ agent: 'demo' });
    const input = [{ author: 'user', content: { role: 'user', parts: [{ text }] } }];
    await client.runs.start(id, { input, on_active: 'reject' });
    const said = await new Promise<string>((resolve, reject) => {
      client.watch(id, {
        onChange: ({ items, status }) => {
          const [part] = items.at(-1)?.content?.parts ?? [];
          if (status === 'idle' && items.length === 2) resolve(String(part?.text));
        },
        onEnd: reject,
      });
    });
    client.close();
    return said;
  },
};

const textOf = (artifact?: Artifact) =>
  artifact?.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('') ??
  '';

function openai({ url, token }: System) {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: token, dangerouslyAllowBrowser: true })
    .responses;
}

Object.assign(globalThis, { clients });
