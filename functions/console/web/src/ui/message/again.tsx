// The buttons that ask a question anew: edited, or as it was for another answer.

import { Pencil, RotateCcw } from 'lucide-preact';
import { useContext } from 'preact/hooks';
import { isQuestion } from '../../store/message';
import { inputOf } from '../../store/turns';
import { HistoryContext } from '../history/place';
import { IconButton } from '../kit/icon-button';
import { lazy } from '../kit/lazy';
import type { MessageProps } from './message';

export const Editor = lazy(() => import('./editor').then((m) => m.Editor));

/** Whether the question of a message is being edited. */
export function useEditing({ chat, message }: MessageProps): boolean {
  const history = useContext(HistoryContext);
  return history === null && chat.revision.editing.value === message.id;
}

export function Edit({ chat, message }: MessageProps) {
  const history = useContext(HistoryContext);
  const stored = message.invocation !== 'pending';
  if (history || !stored || !chat.rights.value.write || !isQuestion(message)) return null;
  return (
    <IconButton
      icon={Pencil}
      label="Edit"
      size={16}
      data-edit={message.id}
      disabled={chat.sending.value}
      onPointerEnter={Editor.preload}
      onFocus={Editor.preload}
      onClick={() => chat.revision.edit(message)}
    />
  );
}

export function Regenerate({ chat, turn, last }: MessageProps) {
  const history = useContext(HistoryContext);
  const { outcome } = turn;
  const newest = chat.newest.value === turn.invocation;
  const offered = outcome === 'running' || (outcome === 'failed' && newest); // see Failure
  if (history || !last || offered || !chat.rights.value.write) return null;
  if (!turn.cut && inputOf(turn).length === 0) return null;
  return (
    <IconButton
      icon={RotateCcw}
      label={outcome === 'stopped' ? 'Ask again' : 'Regenerate'}
      size={16}
      disabled={chat.sending.value}
      onClick={() => void chat.revision.regenerate(turn)}
    />
  );
}
