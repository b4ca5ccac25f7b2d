// The agent's open questions, below the message that asks them.

import { lazy } from '../kit/lazy';
import type { MessageProps } from '../message/props';

const Answering = lazy(() => import('./answering').then((m) => m.Answering));

export function Questions({ chat, message }: MessageProps) {
  const asked = chat.questions.value.filter(({ id }) =>
    message.blocks.some((block) => block.kind === 'call' && block.call.id === id),
  );
  if (asked.length === 0 || message.event.invocation_id !== chat.newest.value) {
    return null;
  }
  return <Answering chat={chat} questions={asked} />;
}
