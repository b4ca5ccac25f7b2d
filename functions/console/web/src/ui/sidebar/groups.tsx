// The sessions, latest activity first, grouped by the day when they came to the top of the list, with
// forks below their source and pinned chats before all.

import { useEffect } from 'preact/hooks';
import { useRoute } from 'wouter-preact';
import type { ListedSession } from '../../api/types';
import { type Family, familiesOf, pathTo, rowsOf } from '../../store/families';
import { isPinned, pinnedFirst } from '../../store/pins';
import type { Sessions } from '../../store/sessions';
import { useApp } from '../context';
import { dayOf } from '../kit/time';
import { type Mark, markOf, SessionRow } from './item';

/** The results of a search by name are in their order alone. */
export function Groups({ sessions }: { sessions: Sessions }) {
  const { pins } = useApp();
  const flat = sessions.query.value !== '';
  const pinning = sessions.kind === 'mine' && !flat ? pins.value : null;
  const ready = pinning !== null && sessions.loaded.value;
  useEffect(() => {
    if (ready) void pinning.find();
  }, [ready, pinning]);
  const list = pinning ? pinning.sessions.value : sessions.list.value;
  const families = flat ? list.map(alone) : familiesOf(list, pinning ? isPinned : undefined);
  const [pinned, others] = pinning
    ? pinnedFirst(families, ({ session }) => session)
    : [[], families];
  const group = (title: string, members: readonly Family[], hint = '') => (
    <section key={title}>
      <h2>{title}</h2>
      <Rows sessions={sessions} list={list} families={members} />
      {hint && <p class="hint">{hint}</p>}
    </section>
  );
  return (
    <>
      {pinned.length > 0 && group('Pinned', pinned, pinning?.partly.value ? PARTLY : '')}
      {byDay(others).map(([day, members]) => group(day, members))}
    </>
  );
}

const PARTLY = 'Chats that were pinned long ago may be further down.';

const alone = (session: ListedSession): Family => ({
  session,
  forks: [],
  time: session.updated_time,
});

interface RowsProps {
  sessions: Sessions;
  list: readonly ListedSession[];
  families: readonly Family[];
}

function Rows({ sessions, list, families }: RowsProps) {
  const { unfolded } = useApp();
  const [, params] = useRoute('/s/:id');
  const open = params ? decodeURIComponent(params.id) : '';
  const path = pathTo(open, list);
  const answered = sessions.answered.value;
  const mark = (folded: readonly ListedSession[]): Mark => {
    const marks = new Set(folded.map((one) => markOf(one, answered.has(one.id))));
    return MARKS.find((one) => marks.has(one)) ?? '';
  };
  return (
    <ul>
      {families
        .flatMap((family) => rowsOf(family, unfolded.ids.value, path))
        .map(({ session, folded, ...row }) => (
          <SessionRow
            key={session.id}
            {...row}
            session={session}
            here={session.id === open}
            answered={answered.has(session.id)}
            see={sessions.see}
            foldedMark={mark(folded)}
          />
        ))}
    </ul>
  );
}

// The first of these is shown for all forks that are folded.
const MARKS: readonly Mark[] = ['New answer', 'Answering', 'Failed'];

function byDay(families: readonly Family[]): [string, Family[]][] {
  const days = new Map<string, Family[]>();
  for (const family of families) {
    const day = dayOf(family.time);
    const list = days.get(day) ?? [];
    list.push(family);
    days.set(day, list);
  }
  return [...days];
}
