// Asks for the new name of a session, and whether to delete it.

import { useLocation } from 'wouter-preact';
import type { ListedSession } from '../api/types';
import { quote } from '../store/text';
import { useApp } from './context';
import { Dialog } from './kit/dialog';

export function Rename({ session }: { session: ListedSession }) {
  const { sessions, chat } = useApp();
  const run = async (form: FormData) => {
    const renamed = await sessions.value?.rename(session.id, String(form.get('name')).trim());
    if (renamed && chat.value?.id === renamed.id) chat.value.session.value = renamed;
  };
  return (
    <Dialog title="Rename chat" submit={{ label: 'Rename', run }}>
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

export function Delete({ session }: { session: ListedSession }) {
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
    <Dialog title="Delete chat?" submit={{ label: 'Delete', danger: true, run }}>
      <p>
        “<bdi>{session.name || 'Untitled'}</bdi>” and its messages, state and artifacts will be
        deleted. Its forks are kept. This cannot be undone.
      </p>
    </Dialog>
  );
}
