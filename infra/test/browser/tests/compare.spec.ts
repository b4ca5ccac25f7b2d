// Two branches side by side, and one of them on narrow screens.

import { expectAccessible } from '../support/accessible.ts';
import { Console } from '../support/console.ts';
import { remember } from '../support/rewinding.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

onScreens(ALL, ({ narrow }) => {
  test('a fork is compared with its source, at an address that others can open', async ({
    console,
    api,
    page,
    context,
  }) => {
    const { id } = await api.createSession({ name: 'Trip', state: { city: 'Rome' } });
    await api.say(id, ['Hello', 'Hi.']);
    const source = await remember(api, id, 'Where to in March?', { city: 'Lisbon' });
    const request = { rewind_before_invocation_id: source, name: 'In May' };
    const made = (await api.send('POST', `/sessions/${id}/fork`, request)) as {
      data: { id: string };
    };
    const fork = made.data.id;
    await remember(api, fork, 'Where to in May?', { city: 'Porto' });

    await console.signIn(`/s/${id}`);
    await page.getByRole('button', { name: 'Side panel' }).click();
    await page.getByRole('tab', { name: 'Tree' }).click();
    await page.getByRole('link', { name: 'Compare branches' }).click();
    const pair = page.getByTestId('pair');
    await expect(pair).toHaveCount(1);
    await expect(page.getByText('The branches part after')).toContainText('Hello');
    const column = (side: string) => pair.locator(`.compare-text[data-column=${side}]`).first();
    await expect(column('left').locator('del')).toHaveText('March');
    if (narrow) {
      await expect(column('left')).toBeVisible();
      await expect(column('right')).toBeHidden();
      await page.getByRole('button', { name: 'Right branch' }).click();
      await expect(column('left')).toBeHidden();
    }
    await expect(column('right')).toBeVisible();
    await expect(column('right').locator('ins')).toHaveText('May');
    const end = page.getByTestId('end').filter({ hasText: 'city' });
    await expect(end.locator('[data-column=right]')).toHaveText('Porto');
    await expectAccessible(page);

    const sent = new Console(await context.newPage(), console.url, console.user);
    await sent.page.goto(page.url());
    await expect(sent.page.getByTestId('pair')).toHaveCount(1);

    await page
      .getByRole('combobox', { name: narrow ? 'Right branch' : 'Left branch' })
      .press(narrow ? 'Home' : 'End');
    await expect(page.getByText('Choose two different branches.')).toBeVisible();
    await page.getByRole('link', { name: 'Back to the chat' }).click();
    await expect(console.said('user').first()).toHaveText('Hello');
  });
});
