// Chats that others share, in the palette and in the search of what was said.

import { expectAccessible } from '../support/accessible.ts';
import { expect, test } from '../support/people.ts';
import { revoke, share } from '../support/sharing.ts';

test('a chat is found while it is shared, and not after', async ({
  console,
  api,
  page,
  another,
}) => {
  const bob = await another('bob');
  const { id } = await bob.api.createSession({ name: 'A voyage with a long name '.repeat(4) });
  const turns = Array.from({ length: 40 }, (_, i): [string, string] => [`Q ${i}`, `A ${i}`]);
  await bob.api.say(id, ['Where to?', 'To the crème brûlée of Lisbon.'], ...turns);
  const access = await share(bob.api, id, { user_id: api.user, access: 'read' });
  const own = await api.createSession({ name: 'My own voyage' });
  await api.say(own.id, ['Lisbon?', 'A crème brûlée.'], ['And', 'Lisbon has the best crème.']);

  await console.signIn();
  const shared = page.getByRole('group', { name: 'Shared with me' });
  await test.step('by its name, in the palette', async () => {
    await page.keyboard.press('Control+k');
    await expect(page.getByRole('option', { name: 'My own voyage' })).toBeVisible();
    await expect(shared).toHaveCount(0);
    await page.getByRole('combobox').fill('long voy');
    await expect(shared.getByRole('option')).toContainText(`from ${bob.user}`);
    await expectAccessible(page);
    await shared.getByRole('option').click();
    await expect(page.getByTestId('owner')).toContainText(bob.user);
  });

  const others = page.getByRole('list', { name: 'Shared with me' }).getByTestId('search-result');
  const state = page.getByTestId('search-state');
  await test.step('by what was said', async () => {
    await console.open('/search?q=lisbon+creme');
    await expect(state).toHaveText('2 chats');
    await expect(others).toHaveCount(1);
    await expect(others).toContainText(`from ${bob.user}`);
    await expectAccessible(page);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
    await others.getByRole('link').click();
    await expect(page).toHaveURL(new RegExp(id));
    await expect(page.getByText('Where to?', { exact: true })).toBeInViewport();
  });

  await revoke(bob.api, id, access);
  await console.open('/search?q=lisbon+creme');
  await expect(state).toHaveText('1 chat');
  await expect(others).toHaveCount(0);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('voy');
  await expect(page.getByRole('option', { name: 'My own voyage' })).toBeVisible();
  await expect(page.getByRole('option', { name: /^A voyage/ })).toHaveCount(0);
});
