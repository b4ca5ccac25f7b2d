// What is shown in place of a chat that cannot be shown.

import { Link } from 'wouter-preact';
import type { Chat } from '../../store/chat';
import { Bar } from './header';
import { Unsent } from './unsent';

const GONE: Record<number | string, string> = {
  revoked: 'This chat is no longer shared with you.',
  expired: 'Your access to this chat has expired.',
  403: 'You do not have access to this chat.',
  404: 'This chat does not exist.',
  410: 'This chat was deleted.',
};

export function Gone({ chat }: { chat: Chat }) {
  const why = chat.ended.value ?? chat.gone.value;
  return (
    <main class="chat">
      <Bar />
      <div class="centred">
        <h1>{GONE[why] ?? 'This chat cannot be shown.'}</h1>
        <Unsent text={chat.draft.value} />
        <Link href="/" class="button primary">
          New chat
        </Link>
      </div>
    </main>
  );
}
