// The sessions, latest activity first, grouped by day.

import { useEffect, useRef } from 'preact/hooks';
import type { Session } from '../../api/types';
import { useApp } from '../context';
import { dayOf } from '../kit/time';
import { SessionLink } from './item';

export function SessionList() {
  const sessions = useApp().sessions.value;
  if (!sessions) return null;
  const { list, loaded, more, query, failed } = sessions;
  if (!loaded.value) {
    return <p class="hint sessions">{failed.value ? 'The sessions could not be loaded.' : ''}</p>;
  }
  return (
    <nav class="sessions" aria-label="Sessions">
      {list.value.length === 0 && !more.value && (
        <p class="hint">
          {query.value ? 'No matching sessions.' : 'Your sessions will appear here.'}
        </p>
      )}
      {byDay(list.value).map(([day, group]) => (
        <section key={day}>
          <h2>{day}</h2>
          <ul>
            {group.map((session) => (
              <SessionLink key={session.id} session={session} />
            ))}
          </ul>
        </section>
      ))}
      {more.value && <More load={() => void sessions.loadMore()} />}
    </nav>
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

function byDay(list: readonly Session[]): [string, Session[]][] {
  const days = new Map<string, Session[]>();
  for (const session of list) {
    const day = dayOf(session.updated_time);
    days.set(day, [...(days.get(day) ?? []), session]);
  }
  return [...days];
}
