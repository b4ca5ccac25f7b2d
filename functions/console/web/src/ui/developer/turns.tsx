// The turns of a chat's log, the newest first, with what they used in all.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { spentIn } from '../../store/developer/cost';
import { TurnsLog } from '../../store/developer/turns-log';
import { useApp } from '../context';
import { Spending } from './spending';
import { Rewind, Turn } from './turn';
import '../../styles/developer.css';

interface Props {
  chat: Chat;
  /** The invocation of the turn that is open; '' for none. */
  opened: string;
  onOpen: (invocation: string) => void;
}

export function Turns({ chat, opened, onOpen }: Props) {
  const { api } = useApp();
  const [log, setLog] = useState<TurnsLog | null>(null);
  useEffect(() => {
    const begun = new TurnsLog(chat, api);
    setLog(begun);
    return begun.start();
  }, [chat, api]);
  return log ? <List chat={chat} log={log} opened={opened} onOpen={onOpen} /> : null;
}

function List({ chat, log, opened, onOpen }: Props & { log: TurnsLog }) {
  const list = useRef<HTMLOListElement>(null);
  const loaded = log.loaded.value;
  const missing = useWanted(log, opened, list);
  const rows = log.list.value;
  const only = log.onlyErrors.value;
  return (
    <section class="turns" aria-label="Turns" data-testid="turns" aria-busy={!loaded}>
      <div class="turns-tools">
        {loaded && <Totals log={log} />}
        <label class="choice">
          <input
            type="checkbox"
            checked={only}
            onChange={({ currentTarget }) => {
              log.onlyErrors.value = currentTarget.checked;
            }}
          />
          <span>Errors only</span>
        </label>
      </div>
      {missing && (
        <p class="notice" role="status">
          This chat has no such turn.
        </p>
      )}
      <ol class="turns-list" ref={list} onKeyDown={move}>
        {rows.map((trace) =>
          trace.marker ? (
            <Rewind key={trace.key} trace={trace} />
          ) : (
            <Turn
              key={trace.key}
              chat={chat}
              log={log}
              trace={trace}
              open={trace.invocation === opened}
              onOpen={onOpen}
            />
          ),
        )}
      </ol>
      {loaded && rows.length === 0 && (
        <p class="hint" role="status">
          {emptyText(only, log.more.value)}
        </p>
      )}
      <Older log={log} />
    </section>
  );
}

function emptyText(only: boolean, more: boolean): string {
  if (!only) return 'There are no turns yet.';
  return more ? 'There is no error in the turns loaded so far.' : 'There is no error.';
}

function Totals({ log }: { log: TurnsLog }) {
  const { config } = useApp();
  const turns = log.traces.value.filter(({ marker }) => marker === null);
  const count = turns.length === 1 ? '1 turn' : `${turns.length.toLocaleString()} turns`;
  return (
    <p class="turns-total" data-testid="total">
      <b>{log.more.value ? `The newest ${count}` : `All ${count}`}</b>
      <Spending spent={spentIn(turns, config.prices ?? {})} />
    </p>
  );
}

function Older({ log }: { log: TurnsLog }) {
  const failed = log.failed.value;
  const loading = log.loading.value;
  if (!log.loaded.value && !failed) {
    return (
      <p class="hint" role="status">
        Loading the turns…
      </p>
    );
  }
  if (!log.more.value && !failed) return null;
  const again = () => void (log.loaded.value ? log.loadOlder() : log.refresh());
  return (
    <div class="turns-more">
      {failed && <p role="alert">{failed}</p>}
      <button type="button" class="button small" disabled={loading} onClick={again}>
        {failed ? 'Try again' : 'Older turns'}
      </button>
      {!failed && (
        <button
          type="button"
          class="button small quiet"
          disabled={loading}
          onClick={() => void log.until(() => false)}
        >
          Load all
        </button>
      )}
    </div>
  );
}

/** Loads the turn that the address names, and moves to it once. Returns whether there is none. */
function useWanted(
  log: TurnsLog,
  opened: string,
  list: { current: HTMLOListElement | null },
): boolean {
  const [wanted] = useState(opened);
  const [missing, setMissing] = useState(false);
  const there = wanted !== '' && log.trace(wanted) !== undefined;
  const loaded = log.loaded.value;
  useEffect(() => {
    if (wanted && loaded) void log.find(wanted).then((found) => setMissing(!found));
  }, [log, wanted, loaded]);
  useEffect(() => {
    if (!there) return;
    const row = list.current?.querySelector<HTMLElement>(`[data-turn="${CSS.escape(wanted)}"]`);
    row?.scrollIntoView({ block: 'start' });
    row?.querySelector('summary')?.focus({ preventScroll: true });
  }, [there, wanted]);
  return missing && !there;
}

// Arrow keys move between the turns.
function move(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (!target.matches('.turn > summary')) return;
  const rows = [
    ...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('.turn > summary'),
  ];
  const at = rows.indexOf(target);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  rows[Math.max(0, Math.min(to, rows.length - 1))]?.focus();
}
