// The tab "State": the session's state, current or as of any message.

import { useEffect } from 'preact/hooks';
import type { Event, State } from '../../api/types';
import type { Chat } from '../../store/chat';
import { type Entry, keysOf, momentsOf, type Scope, scopesOf, stateAfter } from '../../store/state';
import { useView } from '../context';
import { StateMoment } from './state-moment';
import { useStateNow } from './state-now';
import { StateValue } from './state-value';

const SCOPES: Record<Scope, { title: string; hint: string }> = {
  session: { title: 'Chat', hint: 'Only this chat.' },
  user: { title: 'User', hint: 'Shared by all of your chats.' },
  app: { title: 'App', hint: 'Shared by all users of this agent.' },
};
const THEN = 'As set by this chat. Other chats may have changed it since.';

export function StatePanel({ chat }: { chat: Chat }) {
  const { moment } = useView();
  const events = chat.items.value;
  const moments = momentsOf(events);
  const picked = events.find(({ id }) => id === moment.value);
  const now = useStateNow(chat, moments);
  useEffect(() => {
    // A rewind may have removed the selected event
    if (moment.value && chat.loaded.value && !picked) moment.value = '';
  }, [picked, moment.value, chat.loaded.value]);

  // The state at a moment depends on all changes before it.
  const { more, loading, failed } = chat.older;
  const partly = picked !== undefined && more.value;
  useEffect(() => {
    if (partly) void chat.reach(0);
  }, [chat, partly]);

  const scopes = picked ? scopesOf(stateAfter(moments, picked.seq)) : now && scopesNow(now);
  const changed = new Set(picked ? keysOf(picked) : []);
  return (
    <div class="state" data-testid="state">
      <StateMoment
        moments={moments}
        picked={picked}
        pick={(id) => {
          moment.value = id;
        }}
      />
      {partly && loading.value && <p class="hint">Loading earlier messages…</p>}
      {partly && failed.value && (
        <p class="notice" role="alert">
          {failed.value}{' '}
          <button type="button" class="button small" onClick={() => void chat.reach(0)}>
            Try again
          </button>
        </p>
      )}
      {scopes && !partly && <Scopes scopes={scopes} changed={changed} picked={picked} />}
    </div>
  );
}

interface ScopesProps {
  scopes: Record<Scope, Entry[]>;
  changed: ReadonlySet<string>;
  picked: Event | undefined;
}

function Scopes({ scopes, changed, picked }: ScopesProps) {
  const names = (Object.keys(SCOPES) as Scope[]).filter((name) => scopes[name].length > 0);
  const removed = [...changed].filter((key) => picked?.actions?.state_delta?.[key] === null);
  return (
    <>
      {names.length === 0 && removed.length === 0 && (
        <p class="hint">
          {picked ? 'There was no state at this point.' : 'There is no state yet.'}
        </p>
      )}
      {names.map((name) => (
        <section key={name} aria-label={SCOPES[name].title} class="scope">
          <h2>{SCOPES[name].title}</h2>
          <p class="hint">{picked && name !== 'session' ? THEN : SCOPES[name].hint}</p>
          <dl>
            {scopes[name].map((entry) => (
              <StateEntry key={entry.key} entry={entry} changed={changed.has(entry.key)} />
            ))}
          </dl>
        </section>
      ))}
      {removed.length > 0 && (
        <p class="hint">
          Removed here: <b>{removed.join(', ')}</b>
        </p>
      )}
    </>
  );
}

function StateEntry({ entry, changed }: { entry: Entry; changed: boolean }) {
  return (
    <div class="state-entry" data-changed={changed}>
      <dt>
        {entry.name}
        {changed && <span class="badge">changed here</span>}
      </dt>
      <dd>
        <StateValue value={entry.value} />
      </dd>
    </div>
  );
}

const scopesNow = ({ merged }: State) => scopesOf(merged as Record<string, unknown>);
