// What a message, and each part of it, is shown from.

import type { Chat } from '../../store/chat';
import type { Message } from '../../store/message';
import type { Turn } from '../../store/turns';

export interface MessageProps {
  chat: Chat;
  message: Message;
  turn: Turn;
  /** Whether it bears the buttons of its turn. */
  last: boolean;
}
