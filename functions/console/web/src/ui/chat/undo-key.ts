// The key that undoes what this tab has last done to the course of the chat: a rewind, an edited
// question, another answer. In text fields and dialogs it keeps its usual meaning.

import { useEffect } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { pressed } from '../keys/registry';

/** Whether a key event asks for that. */
export function isUndo(event: KeyboardEvent): boolean {
  if (!pressed(event, 'undo')) return false;
  const within = event.target instanceof Element ? event.target : null;
  return !within?.closest('input, textarea, select, [contenteditable], dialog');
}

export function useUndoKey(chat: Chat): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !isUndo(event) || !chat.undo.ready.peek()) return;
      event.preventDefault();
      void chat.undo.undo();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [chat]);
}
