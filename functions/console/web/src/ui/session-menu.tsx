// The actions of a session, in the list and in the header of the chat.

import { DoorOpen, Pencil, Trash2, UserPlus } from 'lucide-preact';
import type { Session } from '../api/types';
import { rightsOf } from '../store/rights';
import { useView } from './context';
import { lazy } from './kit/lazy';
import type { MenuItem } from './kit/menu';
import { ShareDialog } from './share/lazy';

export const Rename = lazy(() => import('./session-dialogs').then((m) => m.Rename), 'dialog');
const Delete = lazy(() => import('./session-dialogs').then((m) => m.Delete), 'dialog');
const Leave = lazy(() => import('./share/leave').then((m) => m.Leave), 'dialog');

export function useSessionMenu(session: Session): MenuItem[] {
  const { dialog } = useView();
  if (session.access === 'admin') return [];
  if (!rightsOf(session).own) {
    return [
      {
        id: 'leave',
        label: 'Leave',
        icon: DoorOpen,
        danger: true,
        preload: Leave.preload,
        run: () => {
          dialog.value = <Leave session={session} />;
        },
      },
    ];
  }
  return [
    {
      id: 'rename',
      label: 'Rename',
      icon: Pencil,
      preload: Rename.preload,
      run: () => {
        dialog.value = <Rename session={session} />;
      },
    },
    {
      id: 'share',
      label: 'Share',
      icon: UserPlus,
      preload: ShareDialog.preload,
      run: () => {
        dialog.value = <ShareDialog session={session} />;
      },
    },
    {
      id: 'delete',
      label: 'Delete',
      icon: Trash2,
      danger: true,
      preload: Delete.preload,
      run: () => {
        dialog.value = <Delete session={session} />;
      },
    },
  ];
}
