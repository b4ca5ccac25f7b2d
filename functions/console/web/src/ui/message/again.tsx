// The actions that ask a question anew: edited, or as it was for another answer.

import { Pencil, RotateCcw } from 'lucide-preact';
import { useContext } from 'preact/hooks';
import { isQuestion } from '../../store/message';
import { inputOf } from '../../store/turns';
import { HistoryContext } from '../history/place';
import { lazy } from '../kit/lazy';
import type { MenuItem } from '../kit/menu';
import type { MessageProps } from './props';

export const Editor = lazy(() => import('./editor').then((m) => m.Editor));

/** Whether the question of a message is being edited. */
export function useEditing({ chat, message }: MessageProps): boolean {
  const history = useContext(HistoryContext);
  return history === null && chat.revision.editing.value === message.id;
}

export function useEditItems({ chat, message }: MessageProps): MenuItem[] {
  const history = useContext(HistoryContext);
  const stored = message.invocation !== 'pending';
  if (history || !stored || !chat.rights.value.write || !isQuestion(message)) return [];
  return [
    {
      id: 'edit',
      label: 'Edit',
      icon: Pencil,
      disabled: chat.sending.value,
      preload: Editor.preload,
      run: () => chat.revision.edit(message),
    },
  ];
}

export function useRegenerateItems({ chat, turn, last }: MessageProps): MenuItem[] {
  const history = useContext(HistoryContext);
  const { outcome } = turn;
  const newest = chat.newest.value === turn.invocation;
  const offered = outcome === 'running' || (outcome === 'failed' && newest); // see Failure
  if (history || !last || offered || !chat.rights.value.write) return [];
  if (!turn.cut && inputOf(turn).length === 0) return [];
  return [
    {
      id: 'regenerate',
      label: outcome === 'stopped' ? 'Ask again' : 'Regenerate',
      icon: RotateCcw,
      disabled: chat.sending.value,
      run: () => void chat.revision.regenerate(turn),
    },
  ];
}
