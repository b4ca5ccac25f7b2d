// Reads pages of a list of sessions.

import type { Api } from '../api/client';
import { type ListOptions, listSessions } from '../api/sessions';
import type { ListedSession, Page } from '../api/types';

const PAGE = 40;
const MAX_EMPTY_PAGES = 10; // a search reads on until a page has results, at most this often

type Query = Omit<ListOptions, 'cursor' | 'limit'>;

/** A page, which may be empty although more follow, because the server filters while reading. */
export async function readPage(
  api: Api,
  query: Query,
  cursor?: string,
): Promise<Page<ListedSession>> {
  const read = (from?: string) => listSessions(api, { ...query, limit: PAGE, cursor: from });
  let page = await read(cursor);
  for (let i = 0; page.data.length === 0 && page.next && i < MAX_EMPTY_PAGES; i++) {
    page = await read(page.next);
  }
  return page;
}

/** The first pages together. */
export async function readPages(
  api: Api,
  query: Query,
  count: number,
): Promise<Page<ListedSession>> {
  let all = await readPage(api, query);
  for (let i = 1; i < count && all.next; i++) {
    const page = await readPage(api, query, all.next);
    all = { data: [...all.data, ...page.data], next: page.next };
  }
  return all;
}
