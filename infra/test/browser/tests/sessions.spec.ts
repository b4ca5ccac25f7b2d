// The list of sessions.

import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

onScreens(ALL, ({ openList, resize }) => {
  test('a session is renamed in the header and in the list', async ({ console, api, page }) => {
    const { id } = await api.createSession({ name: 'Untold' });
    await console.signIn(`/s/${id}`);
    await resize(page);
    await page.getByRole('button', { name: 'Chat options' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename chat' });
    await dialog.getByRole('textbox').fill('Told');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await expect(page.getByRole('heading', { name: 'Told' })).toBeVisible();
    await openList(page);
    await expect(page.getByRole('navigation', { name: 'Chats' })).toContainText('Told');
    expect((await api.session(id)).name).toBe('Told');
  });
});

onScreens(ALL, ({ openList, resize }) => {
  test('a session is deleted after confirmation', async ({ console, api, page }) => {
    const { id } = await api.createSession({ name: 'Passing' });
    await api.createSession({ name: 'Lasting' });
    await console.signIn(`/s/${id}`);
    await resize(page);
    await openList(page);
    const row = page.getByTestId('session').filter({ hasText: 'Passing' });
    const ask = async () => {
      await row.hover();
      await row.getByRole('button', { name: 'Options for Passing' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
    };
    const dialog = page.getByRole('dialog', { name: 'Delete chat?' });
    await ask();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect(row).toBeVisible();
    await ask();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(row).toHaveCount(0);
    await expect(page).toHaveURL(/\/console\/?$/);
    expect((await api.sessions()).map(({ name }) => name)).toEqual(['Lasting']);
  });
});

test('sessions can be searched by name', async ({ console, api, page }) => {
  for (const name of ['Trip to Lisbon', 'Taxes', 'Lisbon tiles']) await api.createSession({ name });
  await console.signIn();
  const rows = page.getByTestId('session');
  await expect(rows).toHaveText(['Lisbon tiles', 'Taxes', 'Trip to Lisbon']);
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('lisbon');
  await expect(rows).toHaveText(['Lisbon tiles', 'Trip to Lisbon']);
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('nothing like it');
  await expect(page.getByText('No matching chats.')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('');
  await expect(rows).toHaveCount(3);
});

test('changes made elsewhere appear in the list', async ({ console, api, page }) => {
  await page.clock.install();
  await console.signIn();
  await expect(page.getByText('Your chats will appear here.')).toBeVisible();
  // The list is read again and again, each time some seconds after the last answer
  const inTime = (look: () => Promise<void>) =>
    expect(async () => {
      await page.clock.fastForward('00:15');
      await look();
    }).toPass();
  const { id } = await api.createSession({ name: 'From a phone' });
  const row = page.getByTestId('session').filter({ hasText: 'From a phone' });
  await inTime(() => expect(row).toBeVisible({ timeout: 1000 }));
  const run = await api.ask(id, '/silent');
  const answering = row.getByRole('img', { name: 'Answering' });
  await inTime(() => expect(answering).toBeVisible({ timeout: 1000 }));
  await api.send('POST', `/sessions/${id}/runs/${run}/cancel`);
  await inTime(() => expect(answering).toHaveCount(0, { timeout: 1000 }));
});

test('a session deleted elsewhere shows that', async ({ console, api, faults, page }) => {
  faults.allow(/status of 404/);
  const { id } = await api.createSession({ name: 'Passing' });
  await api.say(id, ['What is this?', 'A thing.']);
  await console.signIn(`/s/${id}`);
  await expect(page.getByText('A thing.')).toBeVisible();
  await api.send('DELETE', `/sessions/${id}`);
  await expect(page.getByRole('heading', { name: 'This chat was deleted.' })).toBeVisible();
});
