// Forks.

import { fork, menu } from '../support/rewinding.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

onScreens(ALL, ({ openList, resize }) => {
  test('a fork from a question excludes it and puts it into the draft', async ({
    console,
    api,
    page,
  }) => {
    const { id } = await api.createSession({ name: 'Trip' });
    await api.say(id, ['Where to?', 'Lisbon.'], ['What to eat?', 'Fish.'], ['And drink?', 'Wine.']);
    await console.signIn(`/s/${id}`);
    await resize(page);
    await menu(page, 'What to eat?', 'Fork from before this question');
    const dialog = page.getByRole('dialog', { name: 'Fork from before this question' });
    await expect(dialog).toContainText('everything before “What to eat?”');
    await dialog.getByLabel('Name of the new chat').fill('Porto instead');
    await page.keyboard.press('Enter');

    await expect(page.getByRole('heading', { name: 'Porto instead' })).toBeVisible();
    await expect(console.said('user')).toHaveText(['Where to?']);
    expect(console.sessionId).not.toBe(id);
    const field = page.getByRole('textbox', { name: 'Message' });
    await expect(field).toHaveValue('What to eat?');
    await console.ask('What to see?');
    await console.waitFor('idle');
    const before = await console.bubbles();
    await page.reload();
    await expect.poll(() => console.bubbles()).toEqual(before);

    await openList(page);
    const list = page.getByRole('navigation', { name: 'Chats' });
    await expect(list.getByRole('link', { name: 'Porto instead' })).toBeVisible();
    await list.getByRole('link', { name: 'Porto instead' }).click();
    await page.getByTestId('origin').getByRole('link', { name: 'Trip' }).click();
    await expect(console.said('user')).toHaveText(['Where to?', 'What to eat?', 'And drink?']);
  });
});

test('a fork from an answer includes it', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Trip' });
  await api.say(id, ['Where to?', 'Lisbon.'], ['What to eat?', 'Fish.'], ['And drink?', 'Wine.']);
  await console.signIn(`/s/${id}`);
  await menu(page, 'Fish.', 'Fork from this answer');
  await page.getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Fork of Trip' })).toBeVisible();
  await expect(console.said('user')).toHaveText(['Where to?', 'What to eat?']);
  await expect(console.said('agent').last()).toHaveText('Fish.');
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('');
});

test('a fork from the newest answer includes everything', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  await console.signIn(`/s/${id}`);
  await menu(page, 'Second.', 'Fork from this answer');
  await page.getByRole('button', { name: 'Fork', exact: true }).dblclick();
  await expect(page.getByTestId('origin')).toBeVisible();
  await expect(console.said('user')).toHaveText(['One', 'Two']);
  expect(await api.sessions()).toHaveLength(2);
});

test('a fork of a deleted chat shows that', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.']);
  const forked = await fork(api, id, 'Alone');
  await api.send('DELETE', `/sessions/${id}`);
  await console.signIn();
  await console.openSession(forked.id);
  await expect(page.getByTestId('origin')).toHaveText('forked from a deleted chat');
  await expect(console.said('user')).toHaveText(['One']);
});

test("the server's reason for rejecting a fork is shown", async ({
  console,
  api,
  page,
  faults,
}) => {
  faults.allow(/status of 404/);
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  await console.signIn(`/s/${id}`);
  await menu(page, 'Two', 'Fork from before this question');
  const detail = 'Session not found.';
  await page.route('**/fork', (route) =>
    route.fulfill({
      status: 404,
      contentType: 'application/problem+json',
      json: { type: 'about:blank', title: 'Not Found', status: 404, detail },
    }),
  );
  await page.getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page.getByTestId('toast')).toContainText(detail);
  await expect(page.getByRole('button', { name: 'Fork', exact: true })).toBeEnabled();
});
