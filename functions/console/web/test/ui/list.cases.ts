// The list of chats: forks below their source, pinned chats on top.

import type { Session } from '../../src/api/types';
import { problem } from './fake-api';
import { expect, screen, test, vi, waitFor, within } from './page';
import { count } from './renders';
import { saying, type World } from './world';

const nav = () => screen.findByRole('navigation', { name: 'Chats' });
const rows = () => screen.queryAllByTestId('session').map((row) => nameIn(row));
const nameIn = (row: HTMLElement) => row.querySelector('.session-name')?.textContent ?? '';
const groups = async () =>
  within(await nav())
    .getAllByRole('heading')
    .map(({ textContent }) => textContent);

const fork = (api: World, source: Session, name: string, more: Partial<Session> = {}) =>
  api.createSession({
    name,
    fork: { session_id: source.id, rewind_before_invocation_id: null, boundary_found: true },
    ...more,
  });

test('forks are folded below their source, and the tab remembers which are not', async ({
  api,
  page,
}) => {
  const trip = api.createSession({ name: 'Trip' });
  api.createSession({ name: 'Bread' });
  const porto = fork(api, trip, 'Porto');
  fork(api, porto, 'Faro');
  fork(api, { ...trip, id: 'gone' }, 'Orphan');
  page.open('/');
  await waitFor(() => expect(rows()).toEqual(['Orphan', 'Trip', 'Bread']));
  const toggle = screen.getByRole('button', { name: '1 fork of Trip' });
  expect(toggle).toHaveAttribute('aria-expanded', 'false');
  await page.user.click(toggle);
  expect(rows()).toEqual(['Orphan', 'Trip', 'Porto', 'Bread']);
  expect(screen.getByRole('button', { name: '1 fork of Trip' })).toHaveAttribute(
    'aria-expanded',
    'true',
  );
  page.reload();
  await waitFor(() => expect(rows()).toEqual(['Orphan', 'Trip', 'Porto', 'Bread']));
  await page.click('button', '1 fork of Trip');
  expect(rows()).toEqual(['Orphan', 'Trip', 'Bread']);
});

test('the fork that is open is shown, also where its source is folded', async ({ api, page }) => {
  const trip = api.createSession({ name: 'Trip' });
  const porto = fork(api, trip, 'Porto');
  const faro = fork(api, porto, 'Faro');
  fork(api, trip, 'Lagos');
  const tree = { id: trip.id, name: 'Trip', deleted: false, children: [] };
  api.on('GET /sessions/{session_id}/forks', () => [200, { data: tree } as never]);
  await page.openSession(faro.id);
  await waitFor(() => expect(rows()).toEqual(['Trip', 'Porto', 'Faro']));
  await page.user.click(await within(await nav()).findByRole('link', { name: /^Trip/ }));
  await waitFor(() => expect(rows()).toEqual(['Trip']));
});

test('the source tells what its folded forks do', async ({ api, page }) => {
  const trip = api.createSession({ name: 'Trip' });
  const porto = fork(api, trip, 'Porto');
  api.answers = () => null;
  api.start(porto.id, [saying('user', 'Slow?')]);
  page.open('/');
  const toggle = await screen.findByRole('button', { name: /of Trip/ });
  expect(within(toggle).getByRole('img', { name: 'Answering' })).toBeVisible();
  api.end(porto.id, 'Done.');
  void page.app?.sessions.value?.refresh();
  expect(await within(toggle).findByRole('img', { name: 'New answer' })).toBeVisible();
  await page.user.click(toggle);
  await page.user.click(await within(await nav()).findByRole('link', { name: /Porto/ }));
  await waitFor(() => expect(screen.queryByRole('img', { name: 'New answer' })).toBeNull());
});

test('results of a search are a flat list', async ({ api, page }) => {
  const trip = api.createSession({ name: 'Trip' });
  fork(api, trip, 'Trip to Porto');
  api.createSession({ name: 'Bread' });
  page.open('/');
  await waitFor(() => expect(rows()).toEqual(['Bread', 'Trip']));
  await page.fill('Search chats', 'trip', 'searchbox');
  await waitFor(() => expect(rows()).toEqual(['Trip to Porto', 'Trip']));
  expect(screen.queryByRole('button', { name: /forks? of/ })).toBeNull();
});

test('arrow keys move in the list, and fold and unfold forks', async ({ api, page }) => {
  const trip = api.createSession({ name: 'Trip' });
  fork(api, trip, 'Porto');
  api.createSession({ name: 'Bread' });
  page.open('/');
  await waitFor(() => expect(rows()).toEqual(['Bread', 'Trip']));
  const at = () => nameIn(document.activeElement?.closest('li') as HTMLElement);
  within(await nav())
    .getByRole('link', { name: /^Bread/ })
    .focus();
  const presses: [key: string, focused: string, shown: number][] = [
    ['ArrowDown', 'Trip', 2],
    ['ArrowDown', 'Trip', 2],
    ['ArrowRight', 'Trip', 3],
    ['ArrowRight', 'Porto', 3],
    ['ArrowLeft', 'Trip', 3],
    ['ArrowLeft', 'Trip', 2],
    ['Home', 'Bread', 2],
    ['ArrowLeft', 'Bread', 2],
    ['End', 'Trip', 2],
    ['ArrowUp', 'Bread', 2],
  ];
  for (const [key, focused, shown] of presses) {
    await page.user.keyboard(`{${key}}`);
    expect([at(), rows().length], key).toEqual([focused, shown]);
  }
});

test('among hundreds of forks, a change of one renders its row alone', async ({ api, page }) => {
  const trip = api.createSession({ name: 'Trip' });
  const forks = Array.from({ length: 300 }, (_, i) => fork(api, trip, `Fork ${i}`));
  page.open('/');
  await page.click('button', '300 forks of Trip');
  expect(rows().length).toBe(301);
  const { counts, stop } = count();
  const [some] = forks;
  api.session(some?.id ?? '').name = 'Renamed';
  await page.app?.sessions.value?.refresh();
  await waitFor(() => expect(rows()).toContain('Renamed'));
  stop();
  expect(counts.get('Menu') ?? 0, JSON.stringify([...counts])).toBe(1);
});

test('a chat is pinned to the top, for all devices, and other metadata stays', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Trip', metadata: { origin: 'mail' } });
  api.createSession({ name: 'Bread', updated_time: Date.now() + 1000 });
  page.open('/');
  await waitFor(() => expect(rows()).toEqual(['Bread', 'Trip']));
  await page.click('button', 'Options for Trip');
  await page.click('menuitem', 'Pin');
  await waitFor(() => expect(rows()).toEqual(['Trip', 'Bread']));
  expect((await groups())[0]).toBe('Pinned');
  expect(api.session(id).metadata).toEqual({ origin: 'mail', pinned: expect.any(Number) });
  sessionStorage.clear();
  localStorage.clear();
  page.open('/'); // on another device
  await waitFor(() => expect(rows()).toEqual(['Trip', 'Bread']));
  await page.click('button', 'Options for Trip');
  await page.click('menuitem', 'Unpin');
  await waitFor(() => expect(rows()).toEqual(['Bread', 'Trip']));
  expect(api.session(id).metadata).toEqual({ origin: 'mail' });
});

test('a pin that meets another change of the metadata is tried again', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip', metadata: {} });
  let refusals = 1;
  api.on('PATCH /sessions/{session_id}', (_, next) => {
    if (refusals-- <= 0) return next();
    api.session(id).metadata = { origin: 'mail' } as never;
    return problem(412, 'changed');
  });
  await page.openSession(id);
  await page.choose('Pin');
  await waitFor(async () => expect((await groups())[0]).toBe('Pinned'));
  expect(api.session(id).metadata).toEqual({ origin: 'mail', pinned: expect.any(Number) });
  await page.choose('Unpin'); // the chat's own menu knows it too
  await waitFor(async () => expect(await groups()).not.toContain('Pinned'));
});

test('forks of a pinned chat are not pinned, although they have its metadata', async ({
  api,
  page,
}) => {
  const long = Date.now() - 1000;
  const metadata = { pinned: long } as never;
  const trip = api.createSession({ name: 'Trip', metadata, created_time: long - 1 });
  fork(api, trip, 'Porto', { metadata });
  api.createSession({ name: 'Bread' });
  page.open('/');
  await waitFor(() => expect(rows()).toEqual(['Trip', 'Bread']));
  expect(screen.getByRole('button', { name: '1 fork of Trip' })).toBeVisible();
});

test('readers of a shared chat can neither pin it nor see that its owner has', async ({
  api,
  page,
}) => {
  const metadata = { pinned: Date.now() + 1000 } as never;
  const { id } = api.createSession({ name: 'Theirs', user_id: 'bob', access: 'write', metadata });
  await page.openSession(id);
  await waitFor(() => expect(rows()).toEqual(['Theirs']));
  expect(await groups()).not.toContain('Pinned');
  await page.click('button', 'Chat options');
  expect(screen.queryByRole('menuitem', { name: 'Pin' })).toBeNull();
});

/** Serves the list in pages; the second and later ones have `size` sessions at most. */
function inPages(api: World, first: number, size: number) {
  api.on('GET /sessions', ({ query }) => {
    const all = [...api.sessions.values()].sort((a, b) => b.updated_time - a.updated_time);
    const from = Number(query.cursor ?? 0);
    const to = from + (query.cursor ? size : first);
    const next_cursor = to < all.length ? String(to) : null;
    return [200, { data: all.slice(from, to), meta: { next_cursor } }];
  });
}

test('a pinned chat that is far down is found, and the list is read for it once', async ({
  api,
  page,
}) => {
  const metadata = { pinned: Date.now() + 1000 } as never;
  api.createSession({ name: 'Old', metadata });
  for (let i = 0; i < 9; i++) api.createSession({ name: `Chat ${i}` });
  inPages(api, 2, 3);
  page.open('/');
  await waitFor(() => expect(rows()).toEqual(['Old', 'Chat 8', 'Chat 7']));
  const asked = () => api.askedFor('GET /sessions').filter(({ query }) => query.cursor).length;
  expect(asked()).toBe(3);
  expect(screen.queryByText(/may be further down/)).toBeNull();
  await page.app?.sessions.value?.refresh();
  expect(asked()).toBe(3);
  await page.click('button', 'Options for Old');
  await page.click('menuitem', 'Unpin');
  await waitFor(() => expect(rows()).toEqual(['Chat 8', 'Chat 7']));
});

test('where not all of the list was read for pinned chats, it says so', async ({ api, page }) => {
  const metadata = { pinned: Date.now() + 1000 } as never;
  for (let i = 0; i < 20; i++) api.createSession({ name: `Chat ${i}` });
  api.createSession({ name: 'Old', metadata });
  inPages(api, 2, 1);
  page.open('/');
  expect(await screen.findByText(/may be further down/)).toBeVisible();
  await vi.waitFor(() => {
    const asked = api.askedFor('GET /sessions').filter(({ query }) => query.cursor);
    expect(asked.length).toBe(10);
  });
});
