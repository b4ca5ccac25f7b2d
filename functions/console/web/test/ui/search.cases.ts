// The search of messages: what else was said in a chat that was found.

import type { Event } from '../../src/api/types';
import { problem } from './fake-api';
import { expect, screen, test, waitFor, within } from './page';
import type { World } from './world';

/** Finds a session by its newest message with a word, and lists its events in pages of a size. */
function searching(api: World, id: string, word: string, size: number) {
  api.on('GET /sessions', ({ query }, next) => {
    if (query.in !== 'messages') return next();
    const found = api.log(id).findLast((event) => JSON.stringify(event.content).includes(word));
    if (!found || query.shared) return [200, { data: [], meta: { next_cursor: null } }];
    const { id: event_id, invocation_id, seq, author } = found;
    const match = { event_id, invocation_id, seq, author, text: `The ${word}.` };
    return [200, { data: [{ ...api.session(id), match }], meta: { next_cursor: null } }];
  });
  api.on('GET /sessions/{session_id}/events', ({ query }) => {
    expect(query).toMatchObject({ view: 'effective', order: 'desc' });
    const all: Event[] = api.log(id).toReversed();
    const from = Number(query.cursor ?? 0);
    const next_cursor = from + size < all.length ? String(from + size) : null;
    return [200, { data: all.slice(from, from + size), meta: { next_cursor } } as never];
  });
}

test('further messages of a chat are listed below it', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  const filler = 'Nothing to see. '.repeat(20);
  const turns = api.say(
    id,
    ['Which ferries go there?', `${filler}The FERRY of noon is the best. ${filler}`],
    ['And lunch?', 'On the island.'],
    ['The ferry, then', 'Yes.'],
  );
  searching(api, id, 'ferry', 2);
  page.open('/search?q=ferry');
  await page.click('button', 'More in this chat: Trip');
  const list = await screen.findByRole('list', { name: 'More in Trip' });
  const hits = within(list).getAllByRole('link');
  expect(hits.map((hit) => hit.textContent)).toEqual([
    expect.stringMatching(/^demo: ….*The FERRY of noon is the best\..*…$/),
  ]);
  expect(hits[0]?.querySelector('mark')).toHaveTextContent('FERRY');
  expect(hits[0]).toHaveAttribute('href', expect.stringContaining(`/s/${id}?at=${turns[0]}`));
  expect(screen.queryByRole('button', { name: /^More in this chat/ })).toBeNull();
});

test('a chat without further messages says so, and a failure can be tried again', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.say(id, ['Which ferry?', 'Any.']);
  searching(api, id, 'ferry', 10);
  let fails = true;
  api.on('GET /sessions/{session_id}/events', (_, next) => (fails ? problem(403, 'No.') : next()));
  page.open('/search?q=ferry');
  await page.click('button', 'More in this chat: Trip');
  expect(await screen.findByText('The chat could not be read.')).toBeVisible();
  fails = false;
  await page.click('button', 'More in this chat: Trip');
  expect(await screen.findByText('Nothing else in this chat.')).toBeVisible();
  await waitFor(() => expect(screen.queryByText('The chat could not be read.')).toBeNull());
});
