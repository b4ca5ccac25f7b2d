// The palette of chats and actions.

import { expect, screen, test, waitFor } from './page';

const options = () => screen.getAllByRole('option');
const chosen = () => options().find((one) => one.getAttribute('aria-selected') === 'true');

test('what is found stays what it is while the open chat is loaded', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Open' });
  api.createSession({ name: 'Another' });
  let load = () => {};
  const loaded = new Promise<void>((resolve) => {
    load = resolve;
  });
  api.on('GET /sessions/{session_id}', async ({ params }) => {
    await loaded;
    return [200, { data: { ...api.session(params[0] ?? '') } }, { ETag: '"1"' }];
  });
  page.open(`/s/${id}`);
  await screen.findByTestId('chat');
  await page.user.keyboard('{Control>}k{/Control}');
  const another = await screen.findByRole('option', { name: 'Another' });
  await page.user.keyboard('{ArrowUp}');
  const last = options().at(-1);
  await waitFor(() => expect(chosen()).toBe(last));
  const asked = api.askedFor('GET /sessions').length;
  const before = options().length;
  load();
  await waitFor(() => expect(options().length).toBeGreaterThan(before));
  expect(screen.getByRole('group', { name: 'This chat' })).toBeVisible();
  expect(another).toBeVisible(); // not one like it
  expect(chosen()).toBe(last);
  expect(screen.getByRole('combobox', { name: 'Find a chat or an action' })).toHaveFocus();
  expect(api.askedFor('GET /sessions')).toHaveLength(asked);
});
