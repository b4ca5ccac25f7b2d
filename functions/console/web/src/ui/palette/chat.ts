// The actions of the open chat.

import { History, Pencil, Square, Undo2 } from 'lucide-preact';
import type { ListedSession } from '../../api/types';
import type { Chat } from '../../store/chat';
import { useView } from '../context';
import { useAddress, useShow } from '../history/address';
import { panelTabs } from '../panel/tabs';
import { useSessionMenu } from '../session-menu';
import type { PaletteEntry, PaletteGroup } from './entry';

export function useChatActions(chat: Chat, session: ListedSession): PaletteGroup {
  const { panel } = useView();
  const { history } = useAddress();
  const show = useShow();
  const items = useSessionMenu(session);
  const tabs = panelTabs.map(({ id, label, icon }) => ({
    id: `panel ${id}`,
    label,
    icon,
    words: 'side panel show open',
    run: () => {
      panel.value = id;
    },
  }));
  const toggle = {
    id: 'history',
    label: history ? 'Back to the chat' : 'Show rewound history',
    icon: History,
    run: () => show(chat.id, { history: !history }),
  };
  return {
    title: 'This chat',
    entries: [
      ...(chat.rights.value.write ? writing(chat, history) : []),
      ...tabs,
      ...(chat.epoch.value > 0 || history ? [toggle] : []),
      ...items.map(({ id, label, icon, run }) => ({ id: `session ${id}`, label, icon, run })),
    ],
  };
}

function writing(chat: Chat, history: boolean): PaletteEntry[] {
  const stop: PaletteEntry = {
    id: 'stop',
    label: 'Stop the answer',
    icon: Square,
    keys: 'stop',
    run: () => void chat.cancel(),
  };
  const edit: PaletteEntry = {
    id: 'edit',
    label: 'Edit the newest question',
    icon: Pencil,
    keys: 'edit',
    run: () => void chat.edit(),
  };
  const undo: PaletteEntry = {
    id: 'undo',
    label: 'Undo',
    icon: Undo2,
    keys: 'undo',
    words: 'rewind edit answer',
    run: () => void chat.undo.undo(),
  };
  return [
    ...(chat.running.value ? [stop] : []),
    ...(!history && chat.newest.value !== '' ? [edit] : []),
    ...(chat.undo.ready.value ? [undo] : []),
  ];
}
