// Rewinds, and the log, which also has the hidden entries.

import type { Api } from './client';
import type { Event, Rewound } from './types';

export interface RewindOptions {
  /** The first invocation to undo. */
  before: string;
  /** Whether to also restore shared values that other sessions have changed since. */
  conflicts: 'keep' | 'restore';
  /** Whether to cancel a run in progress; otherwise it is a conflict (409). */
  cancelRun: boolean;
  /** The head of the log as known; if it has moved, that is a conflict (409). */
  expectedSeq?: number;
}

/** Returns the result that a rewind would have, without changing anything or cancelling a run. */
export function previewRewind(
  api: Api,
  session: string,
  { before, conflicts }: Pick<RewindOptions, 'before' | 'conflicts'>,
): Promise<Rewound> {
  return api.sessions.rewind(session, {
    rewind_before_invocation_id: before,
    on_conflict: conflicts,
    dry_run: true,
    cancel_run: true,
  });
}

/** Rewinds a session; the key makes it safe to repeat. */
export function rewindSession(
  api: Api,
  session: string,
  { before, conflicts, cancelRun, expectedSeq }: RewindOptions,
  key: string,
): Promise<Rewound> {
  const request = {
    rewind_before_invocation_id: before,
    on_conflict: conflicts,
    dry_run: false,
    cancel_run: cancelRun,
    ...(expectedSeq !== undefined && { expected_seq: expectedSeq }),
  };
  return api.sessions.rewind(session, request, { idempotencyKey: key });
}

/** Entries of a request, the API's limit. */
export const MAX_PAGE = 1000;

/** All entries of the log after a position, including rewound ones and markers, oldest first. */
export async function readLog(api: Api, session: string, after = 0): Promise<Event[]> {
  return readRange(api, session, after, Number.MAX_SAFE_INTEGER);
}

/** The newest entries of the log, oldest first: at most `limit`, fewer if they are large. */
export async function readLogEnd(api: Api, session: string, limit: number): Promise<Event[]> {
  const page = await api.events.list(session, { view: 'all', order: 'desc', limit });
  return page.data.toReversed();
}

/**
 * The entries of the log after a position and up to another. Positions have no gaps, so no cursor
 * is needed, which a rewind would invalidate.
 */
export async function readRange(
  api: Api,
  session: string,
  after: number,
  to: number,
): Promise<Event[]> {
  const entries: Event[] = [];
  for (let last = after; last < to; ) {
    const limit = Math.min(MAX_PAGE, to - last);
    const query = { view: 'all', order: 'asc', after: last, limit } as const;
    const { data, next_cursor } = await api.events.list(session, query);
    entries.push(...data);
    last = data.at(-1)?.seq ?? to;
    if (!next_cursor) break;
  }
  return entries;
}
