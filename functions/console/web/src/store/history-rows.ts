// The rows of the whole log: messages, shown or rewound, and the rewinds between them.

import type { Event } from '../api/types';
import { boundaryOf } from './history-lineage';
import type { Message, Messages } from './message';
import { type RunState, type Turn, turnsOf } from './turns';

/** A rewind, as an entry of the log. */
export interface Marker {
  id: string;
  /** Of the rewind itself: to go back to before it undoes it. */
  invocation: string;
  time: number;
  /** Whether it made way for another try after an answer that failed or was stopped. */
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
 * @param shown ids of what the session shows now
 */
export function historyRows(
  log: readonly Event[],
  shown: ReadonlySet<string>,
  messages: Messages,
  state: RunState,
): HistoryRow[] {
  const rows: HistoryRow[] = [];
  let stretch: Event[] = [];
  const flush = () => {
    for (const turn of turnsOf(messages.of(stretch), state)) rows.push(...rowsOf(turn, shown));
    stretch = [];
  };
  for (const entry of log) {
    const marker = markerOf(entry);
    if (!marker) {
      stretch.push(entry);
      continue;
    }
    flush();
    rows.push({ kind: 'marker', key: marker.id, invocation: marker.invocation, marker });
  }
  flush();
  return rows;
}

function rowsOf(turn: Turn, shown: ReadonlySet<string>): HistoryRow[] {
  return turn.messages.map((message, i) => ({
    kind: 'message',
    key: message.id,
    invocation: message.invocation,
    message,
    turn,
    last: i === turn.messages.length - 1,
    hidden: !shown.has(message.id),
  }));
}
