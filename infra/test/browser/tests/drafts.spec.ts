// What the user was writing, in the storage of a real tab.

import { expect, test } from '../support/test.ts';

test('a draft is kept across a reload', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Trip' });
  await console.signIn(`/s/${id}`);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Half a thought');
  await page.reload();
  await expect(field).toHaveValue('Half a thought');
  await expect(field).toBeFocused();
});
