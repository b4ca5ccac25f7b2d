// When a run did what, as far as its log has recorded it. Nothing is estimated.

import { timeOf } from '../call-times';
import { failureOf } from '../message';
import { messagesOf, type Trace } from './traces';

export interface Step {
  kind: 'queued' | 'started' | 'first' | 'call' | 'ended';
  label: string;
  /** When it began, or happened, in epoch milliseconds; null if that is not recorded. */
  at: number | null;
  /** How long it took, in milliseconds; null if that is not recorded, or for a moment. */
  took: number | null;
  failed: boolean;
}

export interface Waterfall {
  steps: Step[];
  /** The times between which all steps are. */
  from: number;
  to: number;
  /**
   * From the start until the first output of the agent was stored, in milliseconds. Null if either is not
   * recorded, or if that was at the end: such an answer was complete then, and nobody knows when it began.
   */
  toFirst: number | null;
  /** How long the whole run took, in milliseconds; null if it has not ended, or that is not recorded. */
  took: number | null;
}

export function waterfallOf(trace: Trace): Waterfall {
  const { run, entries } = trace;
  const messages = messagesOf(trace);
  const queued = run?.queued_time ?? null; // absent if its input did not wait
  const started = run?.started_time ?? null;
  const ended = run?.ended_time ?? null;
  const output = messages.find(({ role }) => role === 'agent');
  const first = output?.event.created_time ?? null;
  const calls = messages
    .flatMap(({ role, blocks }) => (role === 'agent' ? blocks : []))
    .flatMap((block) => (block.kind === 'call' ? block : []));
  const moment = (kind: Step['kind'], label: string, at: number | null): Step => ({
    kind,
    label,
    at,
    took: null,
    failed: false,
  });
  const steps = [
    ...(queued === null
      ? []
      : [{ ...moment('queued', 'Queued', queued), took: since(queued, started) }]),
    moment('started', 'Started', started),
    moment('first', 'First output stored', first),
    ...calls.map((block): Step => {
      const { call, began, result } = block;
      const failed = failureOf(result) !== null;
      return { kind: 'call', label: call.name || 'Tool', at: began, took: timeOf([block]), failed };
    }),
    { ...moment('ended', 'Ended', ended), failed: run?.status === 'failed' },
  ];
  const times = [...entries.map((entry) => entry.created_time), queued, started, ended];
  const known = times.filter((time) => time !== null);
  return {
    steps,
    from: Math.min(...known),
    to: Math.max(...known),
    toFirst: first !== null && first === ended ? null : since(started, first),
    took: since(started, ended),
  };
}

const since = (from: number | null, to: number | null): number | null =>
  from === null || to === null || to < from ? null : to - from;
