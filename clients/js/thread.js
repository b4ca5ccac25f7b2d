// Reads GET /sessions/{id}/thread, with which a client replaces its state.

const TIMEOUT = 30_000; // milliseconds a page
const MAX_PAGE = 1000; // items a page

/** Reads all pages of a thread; starts again if the session is rewound between two pages. */
export async function readThread(access, fetch) {
  for (let pages = [], cursor = null; ;) {
    const answer = await readPage(access, fetch, { limit: MAX_PAGE, cursor });
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
 * Reads the newest `count` items of a thread. Returns a page with them, oldest first, the cursor to
 * watch from, and in `older` the cursor to the items before, null if there are none.
 */
export async function readEnd(access, fetch, count) {
  for (;;) {
    const end = await readBefore(access, fetch, count);
    if (end) return end;
  }
}

/** Like readEnd, for the items before a cursor; null if the session was rewound since. */
export async function readBefore(access, fetch, count, before = null) {
  let first = null;
  const items = [];
  let cursor = before;
  do { // a page may be short although more items follow
    const limit = Math.min(count - items.length, MAX_PAGE);
    const answer = await readPage(access, fetch, { order: 'desc', limit, cursor });
    if (!answer) return null;
    first ??= answer.data;
    items.push(...answer.data.items);
    first.offsets = { ...answer.data.offsets, ...first.offsets };
    cursor = answer.meta?.next_cursor ?? null;
  } while (cursor && items.length < count);
  return { ...first, items: items.reverse(), older: cursor };
}

// Reads one page; null if its cursor is from before a rewind.
async function readPage({ httpUrl, sessionId, token }, fetch, query) {
  const url = new URL(`${httpUrl}/sessions/${encodeURIComponent(sessionId)}/thread`);
  for (const [name, value] of Object.entries(query)) {
    if (value) url.searchParams.set(name, value);
  }
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${await token()}` }, signal: AbortSignal.timeout(TIMEOUT),
  });
  if (response.status === 409 && query.cursor) return null;
  if (!response.ok) throw errorOf(response.status, response.statusText);
  return response.json();
}

/** Returns the error of a response's status; `final` says that a retry cannot succeed. */
export function errorOf(status, detail) {
  return Object.assign(new Error(detail || `status ${status}`), {
    status, final: [400, 403, 404, 422].includes(status),
  });
}
