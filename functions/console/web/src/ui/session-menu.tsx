// The actions of a session, in the list and in the header of the chat.

import {
  DoorOpen,
  FileDown,
  Pencil,
  Pin,
  PinOff,
  SlidersHorizontal,
  Trash2,
  UserPlus,
} from 'lucide-preact';
import type { ListedSession } from '../api/types';
import { isPinned } from '../store/pins';
import { rightsOf } from '../store/rights';
import { useApp, useView } from './context';
import { lazy } from './kit/lazy';
import type { MenuItem } from './kit/menu';
import { ShareDialog } from './share/lazy';

export const Rename = lazy(() => import('./session-dialogs').then((m) => m.Rename), 'dialog');
const Delete = lazy(() => import('./session-dialogs').then((m) => m.Delete), 'dialog');
const Leave = lazy(() => import('./share/leave').then((m) => m.Leave), 'dialog');
const SessionSettings = lazy(
  () => import('./session/settings').then((m) => m.SessionSettings),
  'dialog',
);
const loadExport = () => import('./session/export');

export function useSessionMenu(session: ListedSession): MenuItem[] {
  const app = useApp();
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
  const pinned = isPinned(session);
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
      id: 'pin',
      label: pinned ? 'Unpin' : 'Pin',
      icon: pinned ? PinOff : Pin,
      run: () => {
        app.pin(session.id, !pinned).catch((error) => app.toasts.fail(error));
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
      id: 'settings',
      label: 'Chat settings',
      icon: SlidersHorizontal,
      preload: SessionSettings.preload,
      run: () => {
        dialog.value = <SessionSettings id={session.id} />;
      },
    },
    {
      id: 'export',
      label: 'Export',
      icon: FileDown,
      preload: () => void loadExport().catch(() => {}), // the click says why
      run: () => {
        loadExport().then(
          ({ exportSession }) => exportSession(app, session),
          (error) => app.toasts.fail(error),
        );
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
