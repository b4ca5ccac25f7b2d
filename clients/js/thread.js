// GET thread: what a client replaces its whole state with.

const WITHIN = 30_000; // milliseconds, a page
const MOST = 1000; // items a page

/** All pages of a thread, from the start where a rewind comes between. */
export async function readThread(access, fetch) {
  for (let pages = [], cursor = null; ;) {
    const answer = await readPage(access, fetch, { limit: MOST, cursor });
    if (!answer) {
      [pages, cursor] = [[], null];
      continue;
    }
    pages.push(answer.data);
    cursor = answer.meta?.next_cursor;
    if (!cursor) return pages;
  }
}

/**
 * The newest items of a thread, oldest first, as a page whose cursor is where to watch from, and
 * in `older` the cursor to those before them, null where there are none.
 */
export async function readEnd(access, fetch, count) {
  for (;;) {
    const end = await readBefore(access, fetch, count);
    if (end) return end;
  }
}

/** As readEnd, of the items before a cursor; null where the session was rewound since. */
export async function readBefore(access, fetch, count, before = null) {
  let first = null;
  const items = [];
  let cursor = before;
  do { // a page may be short although there is more
    const limit = Math.min(count - items.length, MOST);
    const answer = await readPage(access, fetch, { order: 'desc', limit, cursor });
    if (!answer) return null;
    first ??= answer.data;
    items.push(...answer.data.items);
    first.offsets = { ...answer.data.offsets, ...first.offsets };
    cursor = answer.meta?.next_cursor ?? null;
  } while (cursor && items.length < count);
  return { ...first, items: items.reverse(), older: cursor };
}

// One page; null where its cursor is from before a rewind.
async function readPage({ httpUrl, sessionId, token }, fetch, query) {
  const url = new URL(`${httpUrl}/sessions/${encodeURIComponent(sessionId)}/thread`);
  for (const [name, value] of Object.entries(query)) {
    if (value) url.searchParams.set(name, value);
  }
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${await token()}` }, signal: AbortSignal.timeout(WITHIN),
  });
  if (response.status === 409 && query.cursor) return null;
  if (!response.ok) throw errorOf(response.status, response.statusText);
  return response.json();
}

/** What a status of the server means for watching: with `final`, that trying again is of no use. */
export function errorOf(status, detail) {
  return Object.assign(new Error(detail || `status ${status}`), {
    status, final: [400, 403, 404, 422].includes(status),
  });
}
