// The menu item of a message that rewinds the chat, or restores what was rewound.

import { CornerUpLeft, Undo2 } from 'lucide-preact';
import type { RewindTarget } from '../../store/rewind';
import { useView } from '../context';
import { type Place, questionOf, usePlace } from '../history/place';
import type { MenuItem } from '../kit/menu';
import type { MessageProps } from '../message/message';
import { RewindDialog } from './dialog';

type Kind = RewindTarget['kind'];

export function useRewindItems(props: MessageProps): MenuItem[] {
  const { dialog } = useView();
  const place = usePlace(props);
  const kind = place && kindOf(props, place);
  if (!kind) return [];
  const { chat, message, turn } = props;
  const run = async () => {
    const before = kind === 'upTo' ? place.following() : message.invocation;
    if (!before) return;
    const question = kind === 'upTo' ? '' : questionOf(turn.cut ? await chat.whole(turn) : turn);
    const target = { kind, before, question, time: message.event.created_time };
    dialog.value = <RewindDialog chat={chat} target={target} history={place.history} />;
  };
  return [{ id: 'rewind', label: LABELS[kind], icon: ICONS[kind], run: () => void run() }];
}

type Offered = Exclude<Kind, 'undo'>;

const LABELS: Record<Offered, string> = {
  rewind: 'Rewind to here',
  before: 'Return to before this question',
  upTo: 'Return to this answer',
};
const ICONS = { rewind: Undo2, before: CornerUpLeft, upTo: CornerUpLeft };

function kindOf({ message }: MessageProps, { hidden, first }: Place): Offered | null {
  if (hidden) return message.role === 'user' ? 'before' : 'upTo';
  return first ? null : 'rewind';
}
