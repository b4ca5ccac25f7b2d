// The button that shows messages hidden by rewinds, if there were any.

import { History as Clock } from 'lucide-preact';
import type { Chat } from '../../store/chat';
import { IconButton } from '../kit/icon-button';
import { useAddress, useShow } from './address';

export function HistoryToggle({ chat }: { chat: Chat }) {
  const { history } = useAddress();
  const show = useShow();
  if (chat.epoch.value === 0 && !history) return null;
  return (
    <IconButton
      icon={Clock}
      label="Show rewound history"
      aria-pressed={history}
      onClick={() => show(chat.id, { history: !history })}
    />
  );
}
