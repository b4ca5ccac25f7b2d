// A turn: a line of facts, and below it, when it is open, its run, its changes of the state, and its
// events.

import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Chat } from '../../store/chat';
import { spentIn } from '../../store/developer/cost';
import { askedIn, errorsIn, messagesOf, type Trace, writersOf } from '../../store/developer/traces';
import type { TurnsLog } from '../../store/developer/turns-log';
import { waterfallOf } from '../../store/developer/waterfall';
import { textOf } from '../../store/message';
import { useApp, useView } from '../context';
import { addressOf } from '../history/address';
import { lazy } from '../kit/lazy';
import { duration, exact } from '../kit/time';
import { StateChanges } from './changes';
import { Events } from './events';
import { Requests } from './requests';
import { RunView } from './run';
import { Spending } from './spending';

const AgainDialog = lazy(() => import('./again').then((m) => m.AgainDialog), 'dialog');

const LONGEST = 300; // characters

interface Props {
  chat: Chat;
  log: TurnsLog;
  trace: Trace;
  open: boolean;
  onOpen: (invocation: string) => void;
}

export const Turn = memo((props: Props) => {
  const { trace, open, onOpen } = props;
  return (
    <li data-turn={trace.invocation} data-testid="turn">
      <details
        class="turn"
        open={open}
        data-hidden={trace.hidden}
        onToggle={({ currentTarget }) => {
          if (currentTarget.open !== open) onOpen(currentTarget.open ? trace.invocation : '');
        }}
      >
        <summary>
          <span class="turn-title" dir="auto">
            {titleOf(trace)}
          </span>
          <Facts trace={trace} />
        </summary>
        {open && <Body {...props} />}
      </details>
    </li>
  );
});

function Facts({ trace }: { trace: Trace }) {
  const { config } = useApp();
  const { run, entries, hidden } = trace;
  const errors = errorsIn(trace);
  const { toFirst, took } = waterfallOf(trace);
  const spent = spentIn([trace], config.prices ?? {});
  const time = entries[0]?.created_time ?? 0;
  return (
    <span class="turn-facts">
      {run && run.status !== 'completed' && <b data-status={run.status}>{WORDS[run.status]}</b>}
      {errors.length > 0 && run?.status !== 'failed' && <b data-status="failed">error</b>}
      {hidden && <span>rewound</span>}
      {took !== null && <span>{duration(took)}</span>}
      {toFirst !== null && <span>first output stored after {duration(toFirst)}</span>}
      {spent.usage && <Spending spent={spent} />}
      <time dateTime={new Date(time).toISOString()}>{exact(time)}</time>
    </span>
  );
}

const WORDS: Record<string, string> = {
  in_progress: 'in progress',
  queued: 'queued',
  failed: 'failed',
  cancelled: 'cancelled',
};

function Body({ chat, log, trace }: Props) {
  const errors = errorsIn(trace);
  return (
    <div class="turn-body">
      {errors.length > 0 && (
        <ul class="turn-errors" aria-label="Errors">
          {errors.map((error) => (
            <li key={error} dir="auto">
              {error}
            </li>
          ))}
        </ul>
      )}
      <RunView trace={trace} />
      <Writers trace={trace} />
      {trace.run?.mode === 'agent' && chat.rights.value.audit && (
        <Requests session={chat.id} run={trace.run.id} />
      )}
      <StateChanges log={log} trace={trace} />
      <Events trace={trace} />
      <p class="turn-actions">
        <Again chat={chat} trace={trace} />
        <Link
          class="button small"
          href={addressOf(chat.id, { history: trace.hidden, at: trace.invocation })}
        >
          Show in the chat
        </Link>
      </p>
    </div>
  );
}

function Again({ chat, trace }: Pick<Props, 'chat' | 'trace'>) {
  const { dialog } = useView();
  const session = chat.session.value;
  if (!session || !chat.rights.value.own || trace.run?.status === 'in_progress') return null;
  return (
    <button
      type="button"
      class="button small"
      aria-haspopup="dialog"
      onPointerEnter={AgainDialog.preload}
      onClick={() => {
        dialog.value = <AgainDialog trace={trace} session={chat.id} agent={session.agent} />;
      }}
    >
      Ask again from here
    </button>
  );
}

function Writers({ trace }: { trace: Trace }) {
  const writers = writersOf(trace);
  return (
    <section aria-label="Writers">
      <h2>Who wrote it</h2>
      {writers.length === 0 && <p class="hint">Only the system.</p>}
      <ul>
        {writers.map(({ author, by }) => (
          <li key={`${author} ${by}`}>
            <code dir="auto">{author}</code>{' '}
            {by ? `sent by the service ${by}` : 'client not recorded'}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A rewind, between the turns. */
export const Rewind = memo(({ trace }: { trace: Trace }) => {
  const { marker } = trace;
  const [open, setOpen] = useState(false);
  if (!marker) return null;
  return (
    <li class="turn-marker">
      <details class="fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span>{marker.discard ? 'Asked again' : 'Rewound'}</span>
          <small>{exact(marker.time)}</small>
        </summary>
        {open && <Events trace={trace} />}
      </details>
    </li>
  );
});

// A turn without a question, such as one that an automation began, is named by its answer.
function titleOf(trace: Trace): string {
  const text = askedIn(trace) || messagesOf(trace).map(textOf).join(' ');
  const line = text.slice(0, LONGEST).replace(/\s+/g, ' ').trim();
  return line || trace.entries.find(({ author }) => author)?.author || 'Without text';
}
