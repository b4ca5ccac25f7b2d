// The menu item of a message that rewinds the chat, or restores what was rewound: from a question to
// before it, from an answer to after it.

import { CornerUpLeft, Undo2 } from 'lucide-preact';
import { textOf } from '../../store/message';
import { useView } from '../context';
import { type Place, questionOf, usePlace } from '../history/place';
import { lazy } from '../kit/lazy';
import type { MenuItem } from '../kit/menu';
import type { MessageProps } from '../message/props';

const RewindDialog = lazy(() => import('./dialog').then((m) => m.RewindDialog), 'dialog');

export function useRewindItems(props: MessageProps): MenuItem[] {
  const { dialog } = useView();
  const place = usePlace(props);
  const { chat, message, turn } = props;
  const from = message.role === 'user' ? 'question' : 'answer';
  if (!place || !chat.rights.value.write || isPointless(from, place)) return [];
  const run = async () => {
    const asks = from === 'question';
    const before = asks ? message.invocation : place.following();
    if (!before) return;
    const kind = place.hidden ? 'return' : 'rewind';
    const text = asks ? questionOf(await chat.whole(turn)) : textOf(message);
    const target = { kind, from, text, before, time: message.event.created_time } as const;
    dialog.value = <RewindDialog chat={chat} target={target} history={place.history} />;
  };
  const label = `${place.hidden ? 'Return' : 'Rewind'} to ${POINTS[from]}`;
  const icon = place.hidden ? CornerUpLeft : Undo2;
  return [{ id: 'rewind', label, icon, preload: RewindDialog.preload, run: () => void run() }];
}

const POINTS = { question: 'before this question', answer: 'this answer' };

// Nothing comes before the first question, or after the newest answer.
function isPointless(from: keyof typeof POINTS, { hidden, first, newest }: Place): boolean {
  return !hidden && (from === 'question' ? first : newest);
}
