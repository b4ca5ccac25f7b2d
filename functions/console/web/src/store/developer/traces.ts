// The turns of a log as its entries tell of them: what was written, and by which run.

import type { Event, Run } from '../../api/types';
import { boundaryOf, isMessage, Lineage } from '../history-lineage';
import { type Marker, markerOf } from '../history-rows';
import { failureOf, isQuestion, type Message, Messages, textOf } from '../message';
import { keysOf } from '../state';

/** Consecutive entries of one invocation: a turn, or the marker of a rewind. */
export interface Trace {
  /** Unique in its log. */
  key: string;
  invocation: string;
  entries: readonly Event[];
  /** Whether a rewind has hidden it. */
  hidden: boolean;
  marker: Marker | null;
  /** The run as the log tells of its end, or as the server has it now; null if neither does. */
  run: Run | null;
  /** The turn shown before it; null for the first, undefined if that is not loaded. */
  before: Trace | null | undefined;
}

/** Groups entries into traces; an unchanged trace stays the same object. */
export class Traces {
  #known = new Map<string, Trace>();

  /**
   * @param log entries without gaps, oldest first
   * @param active the run in progress, as the server has it
   */
  of(log: readonly Event[], active: Run | null): Trace[] {
    const groups = groupsOf(log);
    const befores = new Map<Event, Event | null | undefined>();
    const shown = lineOf(groups, (log[0]?.seq ?? 1) === 1, befores);
    const known = new Map<string, Trace>();
    const byFirst = new Map<Event, Trace>();
    const traces = groups.flatMap((entries) => {
      const [first] = entries;
      if (!first) return [];
      const before = befores.get(first);
      const trace = this.#steady({
        key: String(first.seq),
        invocation: first.invocation_id,
        entries,
        hidden: !shown.has(first),
        marker: markerOf(first),
        run: runOf(entries, active),
        before: before ? byFirst.get(before) : before,
      });
      known.set(trace.key, trace);
      byFirst.set(first, trace);
      return trace;
    });
    this.#known = known;
    return traces;
  }

  #steady(trace: Trace): Trace {
    const was = this.#known.get(trace.key);
    const same =
      was?.hidden === trace.hidden &&
      was.run === trace.run &&
      was.before === trace.before &&
      was.entries.length === trace.entries.length &&
      was.entries.every((entry, i) => entry === trace.entries[i]);
    return same ? was : trace;
  }
}

// A marker stands alone, whatever its invocation.
function groupsOf(log: readonly Event[]): Event[][] {
  const groups: Event[][] = [];
  for (const entry of log) {
    const last = groups.at(-1);
    const [first] = last ?? [];
    const joins =
      first?.invocation_id === entry.invocation_id &&
      boundaryOf(first) === undefined &&
      boundaryOf(entry) === undefined;
    if (joins) last?.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

/** Whether an entry is part of what a session shows: said, or a change of its state. */
const counts = (entry: Event): boolean => isMessage(entry) || keysOf(entry).length > 0;

/**
 * Follows the rewinds. Returns the first entries of the groups that are shown at the end, and of the
 * rewinds.
 * @param whole whether the log begins with its first entry
 * @param befores takes the group that was shown before each
 */
function lineOf(
  groups: readonly Event[][],
  whole: boolean,
  befores: Map<Event, Event | null | undefined>,
): Set<Event> {
  const start = whole ? null : undefined;
  const lineage = new Lineage<Event | null | undefined>(start);
  const markers: Event[] = [];
  for (const entries of groups) {
    const [first] = entries;
    if (!first) continue;
    for (const entry of entries) {
      const boundary = boundaryOf(entry);
      lineage.see(entry);
      if (boundary !== undefined) {
        markers.push(first);
        lineage.tip = lineage.before(boundary) ?? start; // before what is loaded
      } else if (counts(entry) && lineage.tip !== first) {
        befores.set(first, lineage.tip);
        lineage.tip = first;
      }
    }
  }
  const shown = new Set(markers);
  for (let at = lineage.tip; at; at = befores.get(at)) shown.add(at);
  return shown;
}

// The ends of runs are entries of the whole log.
function runOf(entries: readonly Event[], active: Run | null): Run | null {
  const end = entries.findLast(({ author, run }) => author === 'system' && isRun(run));
  if (end) return end.run as Run;
  return active && active.id === entries[0]?.invocation_id ? active : null;
}

const isRun = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'started_time' in value;

const messages = new Messages();
const told = new WeakMap<Trace, Message[]>();

/** The messages of a trace, with the results of their calls. */
export function messagesOf(trace: Trace): Message[] {
  const known = told.get(trace) ?? messages.of(trace.entries.filter(isMessage));
  told.set(trace, known);
  return known;
}

/** The text of what was asked. */
export function askedIn(trace: Trace): string {
  return messagesOf(trace).filter(isQuestion).map(textOf).filter(Boolean).join('\n\n');
}

/** What went wrong in a trace: its run, an event, or a tool call. */
export function errorsIn(trace: Trace): string[] {
  const { run, entries } = trace;
  const failed = run?.error ? [`${run.error.code}: ${run.error.message}`] : [];
  const events = entries.flatMap(({ status, error }) => {
    const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string };
    return status === 'failed' ? `${code || 'failed'}: ${message}` : [];
  });
  const calls = messagesOf(trace)
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => {
      const failure = block.kind === 'call' ? failureOf(block.result) : null;
      return block.kind === 'call' && failure !== null ? `${block.call.name}: ${failure}` : [];
    });
  return [...new Set([...failed, ...events, ...calls])];
}

/** Who wrote its events, and the services that sent them. */
export function writersOf({ entries }: Trace): { author: string; by: string }[] {
  const writers = entries.flatMap((entry) =>
    entry.author && entry.author !== 'system'
      ? [{ author: entry.author, by: entry.created_by?.service ?? '' }]
      : [],
  );
  const unique = new Map(writers.map((one) => [`${one.author}\n${one.by}`, one]));
  return [...unique.values()];
}
