// A session in the list: its name, its status, its forks, and a menu.

import { ChevronRight, Ellipsis, GitFork } from 'lucide-preact';
import { memo } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { ListedSession } from '../../api/types';
import { useApp, useView } from '../context';
import { Menu } from '../kit/menu';
import { useSessionMenu } from '../session-menu';

const STATUS = { idle: '', in_progress: 'Answering', failed: 'Failed' };

/** What a mark beside a session says; '' for none. */
export type Mark = '' | 'Answering' | 'Failed' | 'New answer';

export const markOf = ({ status }: ListedSession, unseen: boolean): Mark =>
  unseen && status === 'idle' ? 'New answer' : (STATUS[status] as Mark);

interface Props {
  session: ListedSession;
  /** Whether it is open. */
  here: boolean;
  /** Whether an answer has ended that the user has not seen. */
  answered: boolean;
  see: (id: string) => void;
  /** How deep it is below other sessions. */
  level: number;
  /** How many forks are below it. */
  forks: number;
  unfolded: boolean;
  /** The mark of the forks that are folded. */
  foldedMark: Mark;
}

// A list of hundreds renders the rows that change.
export const SessionRow = memo((props: Props) => {
  const { session, here, answered, see, level, forks } = props;
  const { drawer } = useView();
  const items = useSessionMenu(session);
  const element = useRef<HTMLLIElement>(null);
  const { id, name } = session;
  useEffect(() => {
    if (here) element.current?.scrollIntoView({ block: 'nearest' });
  }, [here]);
  useEffect(() => {
    if (here && answered) see(id);
  }, [here, answered]);
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: items of a list can have a level
    <li
      ref={element}
      class="session"
      data-here={here}
      data-level={Math.min(level, DEEPEST)}
      aria-level={level + 1}
      data-testid="session"
    >
      <Link
        href={`/s/${encodeURIComponent(id)}`}
        data-session={id}
        aria-current={here ? 'page' : undefined}
        onClick={() => {
          drawer.value = false;
        }}
      >
        {session.fork && <GitFork size={14} aria-label="Fork" />}
        <span class="session-text">
          <span class="session-name" dir="auto">
            {name || 'Untitled'}
          </span>
          {session.access && (
            <small class="session-owner" title={session.user_id}>
              {session.access === 'write' ? 'can write' : 'can read'} · from{' '}
              <bdi>{session.user_id}</bdi>
            </small>
          )}
        </span>
        <Dot mark={markOf(session, answered && !here)} />
      </Link>
      {forks > 0 && <Forks {...props} />}
      {items.length > 0 && (
        <Menu label={`Options for ${name || 'this chat'}`} icon={Ellipsis} items={items} />
      )}
    </li>
  );
});

const DEEPEST = 4; // levels that are told apart by their place

function Forks({ session: { id, name }, forks, unfolded, foldedMark }: Props) {
  const app = useApp();
  return (
    <button
      type="button"
      class="session-forks"
      data-forks={id}
      aria-expanded={unfolded}
      aria-label={`${forks === 1 ? '1 fork' : `${forks} forks`} of ${name || 'this chat'}`}
      title={unfolded ? 'Hide the forks' : 'Show the forks'}
      onClick={() => app.unfolded.set(id, !unfolded)}
    >
      <Dot mark={foldedMark} />
      {forks}
      <ChevronRight size={14} aria-hidden="true" />
    </button>
  );
}

const DOTS = { Answering: 'in_progress', Failed: 'failed', 'New answer': 'unseen' };

function Dot({ mark }: { mark: Mark }) {
  if (!mark) return null;
  return <span class={`dot ${DOTS[mark]}`} role="img" aria-label={mark} title={mark} />;
}
