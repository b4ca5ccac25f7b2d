// The chat that an address names.

import { useEffect, useState } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { useApp } from '../context';

/**
 * Opens a chat while the component is shown; null until it is.
 * @param far whether an item is looked for that may be far from the newest
 */
export function useChat(id: string, far = false): Chat | null {
  const app = useApp();
  const [chat, setChat] = useState<Chat | null>(() =>
    app.chat.peek()?.id === id ? app.chat.peek() : null,
  );
  useEffect(() => setChat(app.open(id, far)), [app, id]);
  useEffect(() => () => app.close(), [app]);
  return chat?.id === id ? chat : null;
}
