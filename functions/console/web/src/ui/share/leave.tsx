// Asks before the user leaves a session of somebody else.

import { useLocation } from 'wouter-preact';
import type { ListedSession } from '../../api/types';
import { quote } from '../../store/text';
import { useApp } from '../context';
import { Dialog } from '../kit/dialog';

export function Leave({ session }: { session: ListedSession }) {
  const app = useApp();
  const [, navigate] = useLocation();
  const run = async () => {
    const open = app.chat.peek()?.id === session.id;
    await app.leave(session.id);
    app.toasts.say(`Left ${quote(session.name || 'Untitled')}.`);
    if (open) navigate('/');
  };
  return (
    <Dialog title="Leave chat?" submit={{ label: 'Leave', danger: true, run }}>
      <p>
        You will no longer have access to “<bdi>{session.name || 'Untitled'}</bdi>”. To come back,
        you need a link, or its owner <bdi>{session.user_id}</bdi> shares it with you again.
      </p>
    </Dialog>
  );
}
