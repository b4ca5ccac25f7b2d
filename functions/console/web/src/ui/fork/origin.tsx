// In the header of a fork: the link to its origin.

import { GitFork } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { readForks } from '../../api/forks';
import type { Branch, ListedSession } from '../../api/types';
import { useApp } from '../context';

export function Origin({ session }: { session: ListedSession }) {
  const from = session.access ? undefined : session.fork?.session_id; // a guest cannot open it
  return from ? <From key={session.id} session={session.id} from={from} /> : null;
}

function From({ session, from }: { session: string; from: string }) {
  const { api, sessions } = useApp();
  const listed = sessions.value?.list.value.find(({ id }) => id === from);
  const [read, setRead] = useState<Branch | null>(null);
  const known = listed !== undefined;
  useEffect(() => {
    if (known) return;
    let stale = false;
    // The tree of forks remains even if the original session was deleted. If it cannot be loaded,
    // the link has no name.
    readForks(api, session).then(
      (root) => !stale && setRead(find(root, from)),
      () => {},
    );
    return () => {
      stale = true;
    };
  }, [api, session, from, known]);

  const { name, deleted } = { deleted: false, ...(listed ?? read ?? { name: '' }) };
  return (
    <p class="origin" data-testid="origin">
      <GitFork size={14} aria-hidden="true" />
      {deleted ? (
        'forked from a deleted chat'
      ) : (
        <>
          forked from{' '}
          <Link href={`/s/${encodeURIComponent(from)}`}>
            <bdi>{name || 'another chat'}</bdi>
          </Link>
        </>
      )}
    </p>
  );
}

function find(branch: Branch, id: string): Branch | null {
  if (branch.id === id) return branch;
  for (const child of branch.children) {
    const found = find(child, id);
    if (found) return found;
  }
  return null;
}
