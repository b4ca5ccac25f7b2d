// The rows of the whole log: messages, shown or rewound, and the rewinds between them.

import type { Event } from '../api/types';
import { joinCalls } from './calls';
import { boundaryOf, isMessage } from './history-lineage';
import type { Message, Messages } from './message';
import { lastOf, type RunState, type Turn, turnsOf } from './turns';

/** A rewind, as an entry of the log. */
export interface Marker {
  id: string;
  /** The rewind's own invocation: rewinding to before it undoes it. */
  invocation: string;
  time: number;
  /** Whether it discarded a failed or stopped answer before a retry. */
  discard: boolean;
}

export type HistoryRow =
  | {
      kind: 'message';
      key: string;
      invocation: string;
      message: Message;
      turn: Turn;
      last: boolean;
      hidden: boolean;
    }
  | { kind: 'marker'; key: string; invocation: string; marker: Marker };

export function markerOf(entry: Event): Marker | null {
  if (boundaryOf(entry) === undefined) return null;
  return {
    id: entry.id,
    invocation: entry.invocation_id,
    time: entry.created_time,
    discard: entry.invocation_id.startsWith('discard-'),
  };
}

/**
 * @param log entries without gaps, oldest first
 * @param shown ids of the events that the session shows now
 */
export function historyRows(
  log: readonly Event[],
  shown: ReadonlySet<string>,
  messages: Messages,
  state: RunState,
): HistoryRow[] {
  const rows: HistoryRow[] = [];
  let range: Event[] = [];
  const flush = () => {
    for (const turn of turnsOf(messages.of(range), state)) rows.push(...rowsOf(turn, shown));
    range = [];
  };
  for (const entry of log) {
    const marker = markerOf(entry);
    if (!marker) {
      if (isMessage(entry)) range.push(entry);
      continue;
    }
    flush();
    rows.push({ kind: 'marker', key: marker.id, invocation: marker.invocation, marker });
  }
  flush();
  return rows;
}

function rowsOf(turn: Turn, shown: ReadonlySet<string>): HistoryRow[] {
  const last = lastOf(turn);
  return joinCalls(turn.messages).map((message) => ({
    kind: 'message',
    key: message.id,
    invocation: message.invocation,
    message,
    turn,
    last: message.event === last?.event,
    hidden: !shown.has(message.id),
  }));
}
