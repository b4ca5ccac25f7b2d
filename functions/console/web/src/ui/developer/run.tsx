// The run of a turn: who answered, and when what happened.

import type { Run } from '../../api/types';
import { agentName } from '../../store/agents';
import type { Trace } from '../../store/developer/traces';
import { type Step, type Waterfall, waterfallOf } from '../../store/developer/waterfall';
import { useApp } from '../context';
import { duration } from '../kit/time';

export function RunView({ trace }: { trace: Trace }) {
  const { run } = trace;
  const waterfall = waterfallOf(trace);
  return (
    <section aria-label="Run">
      <h2>Run</h2>
      {run ? <Facts run={run} /> : <p class="hint">No run is recorded here for this turn.</p>}
      <Steps waterfall={waterfall} />
    </section>
  );
}

function Facts({ run }: { run: Run }) {
  const { config } = useApp();
  const { agent, mode, status, trace_id, continuations = 0 } = run;
  const lost = continuations === 1 ? '1 worker was lost' : `${continuations} workers were lost`;
  return (
    <p class="run-facts">
      <bdi>{agentName(agent)}</bdi> <span>{mode}</span> <span>{status.replace('_', ' ')}</span>
      {continuations > 0 && <span> {lost}</span>}
      {trace_id && config.trace_url && (
        <>
          {' '}
          <a
            href={config.trace_url.replaceAll('{trace_id}', trace_id)}
            target="_blank"
            rel="noreferrer"
          >
            Trace
          </a>
        </>
      )}
    </p>
  );
}

function Steps({ waterfall }: { waterfall: Waterfall }) {
  const { steps, from } = waterfall;
  return (
    <ol class="waterfall" data-testid="waterfall">
      {steps.map((step, i) => (
        <li key={i} data-kind={step.kind} data-failed={step.failed}>
          <span class="step-name" dir="auto">
            {step.label}
          </span>
          <span class="step-time">{timeOf(step, from)}</span>
          <span class="step-track" aria-hidden="true">
            {step.at !== null && <span class="step-bar" style={placeOf(step, waterfall)} />}
          </span>
        </li>
      ))}
    </ol>
  );
}

function timeOf({ kind, at, took }: Step, from: number): string {
  if (at === null) return 'not recorded';
  const after = `+${duration(at - from)}`;
  if (kind === 'queued' && took !== null) return `${after}, waited ${duration(took)}`;
  if (kind !== 'call') return after;
  return `${after}, ${took === null ? 'duration not recorded' : `took ${duration(took)}`}`;
}

function placeOf({ at, took }: Step, { from, to }: Waterfall) {
  const whole = Math.max(1, to - from);
  const share = (time: number) => `${((100 * time) / whole).toFixed(2)}%`;
  const start = `min(${share((at ?? from) - from)}, 100% - var(--moment))`;
  return { insetInlineStart: start, inlineSize: share(took ?? 0) };
}
