// A session in the list: its name, its status, and a menu.

import { Ellipsis, GitFork } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, useRoute } from 'wouter-preact';
import type { ListedSession } from '../../api/types';
import { useView } from '../context';
import { Menu } from '../kit/menu';
import { useSessionMenu } from '../session-menu';

const STATUS = { idle: '', in_progress: 'Answering', failed: 'Failed' };

interface Props {
  session: ListedSession;
  /** Whether an answer has ended that the user has not seen. */
  answered: boolean;
  see: () => void;
}

export function SessionLink({ session, answered, see }: Props) {
  const { drawer } = useView();
  const href = `/s/${encodeURIComponent(session.id)}`;
  const [here] = useRoute(href);
  const items = useSessionMenu(session);
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (here) element.current?.scrollIntoView({ block: 'nearest' });
  }, [here]);
  useEffect(() => {
    if (here && answered) see();
  }, [here, answered]);
  const unseen = answered && !here && session.status === 'idle';
  const status = unseen ? 'New answer' : STATUS[session.status];
  return (
    <li ref={element} class="session" data-here={here} data-testid="session">
      <Link
        href={href}
        aria-current={here ? 'page' : undefined}
        onClick={() => {
          drawer.value = false;
        }}
      >
        {session.fork && <GitFork size={14} aria-label="Fork" />}
        <span class="session-text">
          <span class="session-name" dir="auto">
            {session.name || 'Untitled'}
          </span>
          {session.access && (
            <small class="session-owner" title={session.user_id}>
              {session.access === 'write' ? 'can write' : 'can read'} · from{' '}
              <bdi>{session.user_id}</bdi>
            </small>
          )}
        </span>
        {status && (
          <span
            class={`dot ${unseen ? 'unseen' : session.status}`}
            role="img"
            aria-label={status}
            title={status}
          />
        )}
      </Link>
      {items.length > 0 && (
        <Menu
          label={`Options for ${session.name || 'this session'}`}
          icon={Ellipsis}
          items={items}
        />
      )}
    </li>
  );
}
