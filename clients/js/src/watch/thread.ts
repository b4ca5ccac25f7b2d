// Reads GET /sessions/{id}/thread, with which a client replaces its state.

import { ConflictError } from '../http/errors.js';
import type { ThreadData, WatchedItem } from './message.js';

const MAX_PAGE = 1000; // items a page

export interface ThreadQuery {
  order?: 'desc';
  limit: number;
  cursor?: string;
}

/** Reads one page of a thread; rejects with a ConflictError if its cursor is from before a rewind. */
export type ReadPage = (query: ThreadQuery) => Promise<ThreadData & { next_cursor: string | null }>;

/** The newest items of a thread, oldest first. */
export interface ThreadEnd extends ThreadData {
  /** Cursor to the items before; null if there are none. */
  older: string | null;
}

/** Reads all pages of a thread; starts again if the session is rewound between two pages. */
export async function readThread(read: ReadPage): Promise<ThreadData[]> {
  for (let pages: ThreadData[] = [], cursor: string | undefined; ; ) {
    const page = await readUnlessRewound(read, { limit: MAX_PAGE, cursor });
    if (!page) {
      [pages, cursor] = [[], undefined];
      continue;
    }
    pages.push(page);
    if (!page.next_cursor) return pages;
    cursor = page.next_cursor;
  }
}

/** Reads the newest `count` items of a thread. */
export async function readEnd(read: ReadPage, count: number): Promise<ThreadEnd> {
  for (;;) {
    const end = await readBefore(read, count);
    if (end) return end;
  }
}

/** Like readEnd, for the items before a cursor; null if the session was rewound since. */
export async function readBefore(
  read: ReadPage,
  count: number,
  before?: string,
): Promise<ThreadEnd | null> {
  let first: ThreadData | null = null;
  let offsets: Record<string, number> = {};
  const items: WatchedItem[] = [];
  let cursor: string | null = before ?? null;
  do {
    // A page may be short although more items follow.
    const limit = Math.min(count - items.length, MAX_PAGE);
    const page = await readUnlessRewound(read, {
      order: 'desc',
      limit,
      cursor: cursor ?? undefined,
    });
    if (!page) return null;
    first ??= page;
    items.push(...page.items);
    offsets = { ...page.offsets, ...offsets };
    cursor = page.next_cursor;
  } while (cursor && items.length < count);
  return { ...first, offsets, items: items.reverse(), older: cursor };
}

async function readUnlessRewound(read: ReadPage, query: ThreadQuery) {
  try {
    return await read(query);
  } catch (error) {
    if (error instanceof ConflictError && query.cursor) return null;
    throw error;
  }
}
