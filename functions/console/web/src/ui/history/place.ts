// Where a message stands, for those who want to go on from there.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import type { History } from '../../store/history';
import { type Message, textOf } from '../../store/message';
import type { Turn } from '../../store/turns';
import type { MessageProps } from '../message/message';

/** The whole log, around messages that are shown as a part of it. */
export const HistoryContext = createContext<History | null>(null);

export interface Place {
  /** Whether a rewind has hidden it. */
  hidden: boolean;
  /** Whether nothing stands before it in the chat. */
  first: boolean;
  /** The invocation that comes after its own; null where none does. */
  following: () => string | null;
  history: History | null;
}

/** Null for a message that the server does not know yet. */
export function usePlace({ chat, message }: MessageProps): Place | null {
  const history = useContext(HistoryContext);
  if (!message.invocation || message.invocation === 'pending') return null;
  const hidden = history?.hides(message.id) ?? false;
  return {
    hidden,
    first: begins(chat, message),
    following: () =>
      hidden && history ? history.following(message.event) : turnAfter(chat, message),
    history,
  };
}

function begins(chat: Chat, { invocation }: Message): boolean {
  const first = chat.turns.value[0];
  return first?.first === true && first.invocation === invocation;
}

function turnAfter(chat: Chat, { invocation }: Message): string | null {
  const turns = chat.turns.peek();
  const at = turns.findLastIndex((turn) => turn.invocation === invocation);
  return turns[at + 1]?.invocation ?? null;
}

/** The text of the question that a turn began with. */
export function questionOf(turn: Turn): string {
  return turn.messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .join('\n\n');
}
