// The state before and after a turn, as a difference.

import { type Change, changesIn } from '../../store/developer/changes';
import type { Trace } from '../../store/developer/traces';
import type { TurnsLog } from '../../store/developer/turns-log';
import { StateValue } from '../panel/state-value';

export function StateChanges({ log, trace }: { log: TurnsLog; trace: Trace }) {
  const changes = changesIn(trace);
  const unknown = changes.some(({ known }) => !known);
  // What set a value before may be far back
  const lookBack = () =>
    log.until(() => {
      const now = log.trace(trace.invocation) ?? trace;
      return changesIn(now).every(({ known }) => known);
    });
  return (
    <section aria-label="State">
      <h2>State</h2>
      {changes.length === 0 && <p class="hint">This turn has not changed it.</p>}
      <dl class="state-diff">
        {changes.map((change) => (
          <div key={change.key}>
            <dt dir="auto">{change.key}</dt>
            <Sides change={change} />
          </div>
        ))}
      </dl>
      {unknown && (
        <button
          type="button"
          class="button small"
          disabled={log.loading.value}
          onClick={() => void lookBack()}
        >
          Look for unknown values in older turns
        </button>
      )}
    </section>
  );
}

function Sides({ change }: { change: Change }) {
  const { before, after, known } = change;
  return (
    <>
      <dd data-side="before">
        <span class="hidden">Before: </span>
        {known ? <Value value={before} none="not set" /> : <i>not loaded</i>}
      </dd>
      <dd data-side="after">
        <span class="hidden">After: </span>
        <Value value={after} none="removed" />
      </dd>
    </>
  );
}

function Value({ value, none }: { value: unknown; none: string }) {
  return value === undefined ? <i>{none}</i> : <StateValue value={value} />;
}
