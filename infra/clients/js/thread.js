// GET thread: what a client replaces its whole state with.

const WITHIN = 30_000; // milliseconds, a page

/** All pages of a thread, from the start where a rewind comes between. */
export async function readThread({ httpUrl, sessionId, token }, fetch) {
  for (let pages = [], cursor = null; ;) {
    const url = new URL(`${httpUrl}/sessions/${encodeURIComponent(sessionId)}/thread`);
    url.searchParams.set('limit', '1000');
    if (cursor) url.searchParams.set('cursor', cursor);
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${await token()}` }, signal: AbortSignal.timeout(WITHIN),
    });
    if (response.status === 409 && cursor) {
      [pages, cursor] = [[], null];
      continue;
    }
    if (!response.ok) throw errorOf(response.status, response.statusText);
    const { data, meta } = await response.json();
    pages.push(data);
    cursor = meta?.next_cursor;
    if (!cursor) return pages;
  }
}

/** What a status of the server means for watching: with `final`, that trying again is of no use. */
export function errorOf(status, detail) {
  return Object.assign(new Error(detail || `status ${status}`), {
    status, final: [400, 403, 404, 422].includes(status),
  });
}
