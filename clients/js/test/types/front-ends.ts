// The entries for front ends have the types that these expect.

import type { AbstractAgent } from '@ag-ui/client';
import { Chat, type UseChatHelpers, useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { RateLimitedError, Rethread, type RethreadError } from 'rethread';
import { RethreadAgent } from 'rethread/ag-ui';
import { RethreadChatTransport } from 'rethread/ai-sdk';

type Message = UIMessage<{ model: string }>;

const client = new Rethread({ url: 'https://api.example', token: 't' });
const onStopFailed = (error: unknown) => void (error as RethreadError).status;
const transport = new RethreadChatTransport<Message>({
  client,
  agent: 'default',
  body: { rethread: { on_active: 'enqueue' } },
  onAbort: 'leave',
  onStopFailed,
});

export async function open(id: string): Promise<Chat<Message>> {
  const messages: Message[] = await transport.loadMessages(id);
  return new Chat<Message>({ id, messages, transport });
}

export function usePage(chat: Chat<Message>): [UseChatHelpers<Message>, number | undefined] {
  const page = useChat({ chat, resume: true });
  return [page, page.error instanceof RateLimitedError ? page.error.retryAfter : undefined];
}

export async function run(threadId: string): Promise<string | null> {
  const agent: AbstractAgent = new RethreadAgent({ client, agent: 'default', threadId });
  await agent.connectAgent();
  return agent instanceof RethreadAgent ? agent.clone().stop() : null;
}
