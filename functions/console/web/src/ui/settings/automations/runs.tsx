// The last runs of an automation, and what came of them.

import { useEffect } from 'preact/hooks';
import { type Automation, NotFoundError, type Run } from 'rethread';
import { Link } from 'wouter-preact';
import type { Api } from '../../../api/client';
import { useApp } from '../../context';
import { exact } from '../../kit/time';
import { eventWords } from '../event-words';
import { useLoaded } from '../loaded';
import type { Mark } from '../webhooks/words';

type LastRun = NonNullable<Automation['last_runs']>[number];

/** `open` says that the outcome is not final. */
type Outcome = Mark & { open?: true };

const WAITS: Outcome = { text: 'Waits', kind: '', open: true };
const POLL_INTERVAL = 2000; // milliseconds, while the outcome is open

const OUTCOMES: Record<Run['status'], Outcome> = {
  queued: WAITS,
  in_progress: { text: 'In progress', kind: '', open: true },
  completed: { text: 'Complete', kind: 'good' },
  failed: { text: 'Failed', kind: 'bad' },
  cancelled: { text: 'Stopped', kind: '' },
};

export function LastRuns({ runs }: { runs: readonly LastRun[] }) {
  return (
    <section class="group" aria-labelledby="runs">
      <h3 id="runs">Last runs</h3>
      {runs.length === 0 && <p class="hint">It has begun no answer in the last 30 days.</p>}
      {runs.length > 0 && (
        <ul class="rows">
          {runs.map((run) => (
            <li key={run.run_id} data-testid="last-run">
              <LastRunItem run={run} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function LastRunItem({ run }: { run: LastRun }) {
  const { api } = useApp();
  const { run_id: id, session_id: session, event_type: type, time } = run;
  const outcome = useLoaded(`run ${id}`, () => outcomeOf(api, run));
  const mark = outcome.value.value;
  useEffect(() => {
    if (!mark?.open) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void outcome.reload();
    }, POLL_INTERVAL);
    return () => clearInterval(timer);
  }, [outcome, mark?.open]);
  return (
    <Link href={`/s/${encodeURIComponent(session)}?at=${encodeURIComponent(id)}`} class="row">
      <span class="row-title">{eventWords(type)}</span>
      {mark && <span class={`state-mark ${mark.kind}`}>{mark.text}</span>}
      <span class="row-more">
        {exact(time)} · session {session}
      </span>
    </Link>
  );
}

// A run that does not exist waits for the end of another, unless its session was deleted.
async function outcomeOf(api: Api, { session_id: session, run_id: id }: LastRun): Promise<Outcome> {
  try {
    return OUTCOMES[(await api.runs.get(session, id)).status];
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  try {
    await api.sessions.get(session);
    return WAITS;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    return { text: 'Chat deleted', kind: '' };
  }
}
