// In the header of another user's session: whose it is.

import { Users } from 'lucide-preact';
import type { ListedSession } from '../../api/types';

export function Owner({ session }: { session: ListedSession }) {
  if (!session.access) return null;
  return (
    <p class="origin" data-testid="owner" title={session.user_id}>
      <Users size={14} aria-hidden="true" />
      <span>
        {session.access === 'admin' ? 'belongs to' : 'shared by'} <bdi>{session.user_id}</bdi>
      </span>
    </p>
  );
}
