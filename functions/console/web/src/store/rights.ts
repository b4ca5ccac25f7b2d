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
  /** Read what agents were sent, which guests may not. */
  audit: boolean;
}

const NONE: Rights = { mine: null, write: false, own: false, audit: false };
const OWNER: Rights = { mine: true, write: true, own: true, audit: true };
const WRITER: Rights = { mine: false, write: true, own: false, audit: false };
const READER: Rights = { mine: false, write: false, own: false, audit: false };
const ADMIN: Rights = { ...READER, audit: true };

/** The rights to a session; none until it is known. The same rights are the same object. */
export function rightsOf(session: ListedSession | null): Rights {
  if (!session) return NONE;
  const { access } = session; // absent for the owner
  if (access === undefined) return OWNER;
  if (access === 'admin') return ADMIN;
  return access === 'write' ? WRITER : READER;
}
