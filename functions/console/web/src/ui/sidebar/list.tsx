// The list of sessions, and what stands for it while there is none.

import { Copy, TextSearch } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { ListKind, Sessions } from '../../store/sessions';
import { useApp, useView } from '../context';
import { useCopy } from '../kit/copy';
import { IconButton } from '../kit/icon-button';
import { Skeleton } from '../kit/skeleton';
import { searchPath } from '../search/address';
import { Groups } from './groups';
import { moveInList } from './move';

/** One of the user's lists; null while signed out. */
export function useSessions(kind: ListKind): Sessions | null {
  const { sessions, shared } = useApp();
  return (kind === 'mine' ? sessions : shared).value;
}

export function SessionList({ kind }: { kind: ListKind }) {
  const sessions = useSessions(kind);
  const { unfolded } = useApp();
  // The list of shared sessions is kept up to date only while it is shown.
  useEffect(() => {
    if (kind === 'mine' || !sessions) return;
    sessions.start();
    return () => sessions.pause();
  }, [kind, sessions]);
  if (!sessions) return null;
  const { list, loaded, more, query, failed } = sessions;
  if (!loaded.value) {
    if (!failed.value) return <Skeleton class="sessions" rows={6} />;
    return <p class="hint sessions">The chats could not be loaded.</p>;
  }
  return (
    <nav class="sessions" aria-label="Chats" onKeyDown={(event) => moveInList(event, unfolded)}>
      {list.value.length === 0 && !more.value && (
        <p class="hint">{query.value ? 'No matching chats.' : EMPTY[kind]}</p>
      )}
      {kind === 'shared' && <UserId />}
      <Groups sessions={sessions} />
      {kind === 'mine' && query.value && <InMessages words={query.value} />}
      {more.value && <More load={() => void sessions.loadMore()} />}
    </nav>
  );
}

const EMPTY: Record<ListKind, string> = {
  mine: 'Your chats will appear here.',
  shared: 'Chats that others share with you will appear here.',
};

// What others have to know to share with the user.
function UserId() {
  const copy = useCopy();
  const id = useApp().auth.user.value?.id;
  if (!id) return null;
  return (
    <p class="hint user-id">
      <span title={id}>
        Your user id: <bdi data-testid="user-id">{id}</bdi>
      </span>
      <IconButton icon={Copy} label="Copy your user id" size={15} onClick={() => void copy(id)} />
    </p>
  );
}

function InMessages({ words }: { words: string }) {
  const { drawer } = useView();
  return (
    <Link
      href={searchPath(words)}
      class="button quiet in-messages"
      onClick={() => {
        drawer.value = false;
      }}
    >
      <TextSearch size={16} aria-hidden="true" />
      Search in messages
    </Link>
  );
}

// Loads more when scrolled into view, or when pressed.
function More({ load }: { load: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) load();
    });
    if (button.current) observer.observe(button.current);
    return () => observer.disconnect();
  });
  return (
    <button type="button" ref={button} class="button quiet" onClick={load}>
      Show more
    </button>
  );
}
