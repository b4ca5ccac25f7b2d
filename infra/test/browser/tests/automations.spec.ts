// An automation in the settings acts. test/ui of functions/console/web has its forms and states.

import { expect, test } from '../support/test.ts';

test('an automation is created, and leads to what it has asked', async ({
  console,
  api,
  page,
  faults,
}) => {
  faults.allow(/status of 422/);
  await console.signIn('/settings/automations/new');
  const create = page.getByRole('button', { name: 'Create automation' });
  await page.getByRole('textbox', { name: 'Name' }).fill('Second look');
  await page.getByRole('textbox', { name: 'Question' }).fill('What about {{session_id}}');
  await create.click();
  const when = page.getByRole('group', { name: 'When' });
  await expect(when).toBeFocused();
  await expect(when).toHaveAccessibleDescription(/type/i);
  await page.getByRole('checkbox', { name: /A chat was created/ }).check();
  await create.click();
  await expect(page.getByRole('heading', { name: 'Second look' })).toBeVisible();

  const { id } = await api.createSession({ name: 'Trip' });
  await expect.poll(async () => JSON.stringify(await api.events(id))).toContain(`What about ${id}`);
  await page.reload();
  const run = page.getByTestId('last-run');
  await expect(run).toContainText('A chat was created or imported');
  await expect(run).toContainText('Complete');
  await run.getByRole('link').click();
  await expect(console.said('user')).toHaveText(`What about ${id}`);
});
