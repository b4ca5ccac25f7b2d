// The actions of a session, in the list and in the header of the chat.

import { DoorOpen, Pencil, Trash2, UserPlus } from 'lucide-preact';
import { useLocation } from 'wouter-preact';
import type { Session } from '../api/types';
import { rightsOf } from '../store/rights';
import { useApp, useView } from './context';
import { Dialog } from './kit/dialog';
import type { MenuItem } from './kit/menu';
import { quote } from './kit/text';
import { ShareDialog } from './share/lazy';
import { Leave } from './share/leave';

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
        run: () => {
          dialog.value = <Leave session={session} />;
        },
      },
    ];
  }
  return [
    {
      id: 'share',
      label: 'Share',
      icon: UserPlus,
      run: () => {
        dialog.value = <ShareDialog session={session} />;
      },
    },
    {
      id: 'rename',
      label: 'Rename',
      icon: Pencil,
      run: () => {
        dialog.value = <Rename session={session} />;
      },
    },
    {
      id: 'delete',
      label: 'Delete',
      icon: Trash2,
      danger: true,
      run: () => {
        dialog.value = <Delete session={session} />;
      },
    },
  ];
}

export function Rename({ session }: { session: Session }) {
  const { sessions, chat } = useApp();
  const run = async (form: FormData) => {
    const renamed = await sessions.value?.rename(session.id, String(form.get('name')).trim());
    if (renamed && chat.value?.id === renamed.id) chat.value.session.value = renamed;
  };
  return (
    <Dialog title="Rename session" submit={{ label: 'Rename', run }}>
      <label>
        <span class="hidden">Name</span>
        <input
          name="name"
          dir="auto"
          class="field"
          required
          maxLength={256}
          defaultValue={session.name}
          autocomplete="off"
          ref={(input) => input?.select()}
        />
      </label>
    </Dialog>
  );
}

function Delete({ session }: { session: Session }) {
  const { sessions, chat, toasts, drafts } = useApp();
  const [, navigate] = useLocation();
  const run = async () => {
    const open = chat.peek()?.id === session.id;
    await sessions.value?.remove(session.id);
    drafts.of(session.id).value = '';
    toasts.say(`Deleted ${quote(session.name || 'Untitled')}.`);
    if (open) navigate('/');
  };
  return (
    <Dialog title="Delete session?" submit={{ label: 'Delete', danger: true, run }}>
      <p>
        “<bdi>{session.name || 'Untitled'}</bdi>” and its messages, state and artifacts will be
        deleted. Its forks are kept. This cannot be undone.
      </p>
    </Dialog>
  );
}
