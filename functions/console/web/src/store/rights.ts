// What the user may do in a chat. Everything in the page that offers an action asks here. The rule
// itself is the server's: shared/domain/access/rule.go.

import type { ListedSession } from '../api/types';

export interface Rights {
  /** Whether the session belongs to the user; null until that is known. */
  mine: boolean | null;
  /** Continue the chat: ask, stop, rewind, give feedback, upload. */
  write: boolean;
  /** What only the owner may do: rename, delete, fork, export, share, delete artifacts. */
  own: boolean;
}

/** The rights to a session; none until it is known. */
export function rightsOf(session: ListedSession | null): Rights {
  if (!session) return { mine: null, write: false, own: false };
  const { access } = session; // absent for the owner
  return {
    mine: access === undefined,
    write: access === undefined || access === 'write',
    own: access === undefined,
  };
}
