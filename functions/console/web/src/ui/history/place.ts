// The position of a message, for rewinds and forks from there.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import type { History } from '../../store/history';
import { type Message, textOf } from '../../store/message';
import type { Turn } from '../../store/turns';
import type { MessageProps } from '../message/props';

/** The complete log, provided to messages in the history view. */
export const HistoryContext = createContext<History | null>(null);

export interface Place {
  /** Whether a rewind has hidden it. */
  hidden: boolean;
  /** Whether it belongs to the first turn of the chat. */
  first: boolean;
  /** Whether it belongs to the newest turn of the chat. */
  newest: boolean;
  /** The invocation that follows its own; null if none does. */
  following: () => string | null;
  history: History | null;
}

/** Null for a message that the server has not stored yet. */
export function usePlace({ chat, message }: MessageProps): Place | null {
  const history = useContext(HistoryContext);
  if (!message.invocation || message.invocation === 'pending') return null;
  const hidden = history?.hides(message.id) ?? false;
  return {
    hidden,
    first: chat.first.value === message.invocation,
    newest: chat.newest.value === message.invocation,
    following: () =>
      hidden && history ? history.following(message.event) : turnAfter(chat, message),
    history,
  };
}

function turnAfter(chat: Chat, { invocation }: Message): string | null {
  const turns = chat.turns.peek();
  const at = turns.findLastIndex((turn) => turn.invocation === invocation);
  return turns[at + 1]?.invocation ?? null;
}

/** The text of a turn's question. */
export function questionOf(turn: Turn): string {
  return turn.messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .join('\n\n');
}
