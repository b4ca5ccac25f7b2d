// What the list of sessions shows while it is loaded, and of answers in chats that are not open.

import { expect, screen, test, waitFor, within } from './page';
import { saying } from './world';

test('a mark tells that an answer has ended in the background, until its chat is opened', async ({
  api,
  page,
}) => {
  const here = api.createSession({ name: 'Here' });
  const there = api.createSession({ name: 'There' });
  api.answers = () => null;
  api.start(there.id, [saying('user', 'Slow?')]);
  await page.openSession(here.id);
  const nav = await screen.findByRole('navigation', { name: 'Chats' });
  await within(nav).findByRole('img', { name: 'Answering' });
  api.end(there.id, 'Done.');
  void page.app?.sessions.value?.refresh();
  expect(await within(nav).findByRole('img', { name: 'New answer' })).toBeVisible();
  await page.user.click(within(nav).getByRole('link', { name: /^There/ }));
  await waitFor(() => expect(page.said('agent')).toEqual(['Done.']));
  expect(within(nav).queryByRole('img', { name: 'New answer' })).toBeNull();
  await page.user.click(within(nav).getByRole('link', { name: /^Here/ }));
  await waitFor(() => expect(page.path).toBe(`/s/${here.id}`));
  expect(within(nav).queryByRole('img', { name: 'New answer' })).toBeNull();
});

test('while sessions and messages are loaded, rows stand in their place', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.say(id, ['Where?', 'Here.']);
  const list = api.hold('GET /sessions');
  const thread = api.hold('GET /sessions/{session_id}/thread');
  page.open(`/s/${id}`);
  await waitFor(() => expect(screen.getAllByTestId('skeleton').length).toBe(2));
  list.release();
  thread.release();
  await waitFor(() => expect(page.said('agent')).toEqual(['Here.']));
  await waitFor(() => expect(screen.queryByTestId('skeleton')).toBeNull());
});

test('a note tells that an answer has ended in another chat, and leads there', async ({
  api,
  page,
}) => {
  const here = api.createSession({ name: 'Here' });
  const [one, two, three] = ['One', 'Two', 'Three'].map((name) => api.createSession({ name }));
  if (!one || !two || !three) throw new Error('a session is missing');
  api.answers = () => null;
  for (const { id } of [here, one, two, three]) api.start(id, [saying('user', 'Slow?')]);
  await page.openSession(here.id);
  const list = () => page.app?.sessions.value;
  await waitFor(() => expect(list()?.list.value.length).toBe(4));
  api.end(here.id, 'Done.');
  await list()?.refresh();
  expect(screen.queryByTestId('toast')).toBeNull(); // this tab shows it
  api.end(one.id, 'Done.');
  await list()?.refresh();
  expect(await screen.findByTestId('toast')).toHaveTextContent(/One.* has a new answer\./);
  await page.click('button', 'Open');
  await waitFor(() => expect(page.path).toBe(`/s/${one.id}`));
  expect(screen.queryByTestId('toast')).toBeNull();
  api.end(two.id, 'Done.');
  api.end(three.id, 'Done.');
  await list()?.refresh();
  expect(await screen.findByTestId('toast')).toHaveTextContent('2 chats have new answers.');
});
