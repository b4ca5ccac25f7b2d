// Questions that wait until the answers before them are complete.

import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible.ts';
import type { Console } from '../support/console.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

const queued = (page: Page) => page.getByTestId('queued').locator('p');

async function enqueue({ page }: Console, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Add to the queue' }).click();
  await expect(queued(page).last()).toHaveText(text);
  await expect(page.locator('[data-testid=queued][data-run=""]')).toHaveCount(0);
}

onScreens(ALL, ({ resize }) => {
  test('questions asked during an answer wait, can be removed, and run in order in all tabs', async ({
    console,
    api,
    page,
    openTab,
  }) => {
    await console.signIn();
    await resize(page);
    await console.ask('/long 2000');
    await expect(console.said('agent')).toContainText('word2 ');
    const other = await openTab(console.sessionId);
    for (const text of ['One', 'Two', 'Three']) await enqueue(console, text);
    await expect(queued(other.page)).toHaveText(['One', 'Two', 'Three']);

    await page.reload();
    await expect(queued(page)).toHaveText(['One', 'Two', 'Three']);
    const second = other.page.getByTestId('queued').filter({ hasText: 'Two' });
    await second.getByRole('button', { name: 'Remove from the queue' }).click();
    for (const tab of [console, other]) await expect(queued(tab.page)).toHaveText(['One', 'Three']);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Stop' }).click();
    for (const tab of [console, other]) {
      await expect(tab.said('agent').last()).toContainText('You said: "Three"');
      await tab.waitFor('idle');
      await expect(tab.said('user')).toHaveText(['/long 2000', 'One', 'Three']);
      await expect(tab.page.getByTestId('queue')).toHaveCount(0);
    }
    expect(await other.bubbles()).toEqual(await console.bubbles());
    const asked = (await api.events(console.sessionId)).filter(({ author }) => author === 'user');
    expect(asked.map(({ content }) => content?.parts?.[0]?.text)).toEqual([
      '/long 2000',
      'One',
      'Three',
    ]);
  });
});

test.describe('on a narrow phone', () => {
  test.use({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true });

  test('ten long questions fit, and the eleventh is refused with the reason', async ({
    console,
    api,
    faults,
    page,
  }) => {
    faults.allow(/status of 409/);
    const { id } = await api.createSession({ name: 'Many' });
    await api.ask(id, '/long 2000');
    const long = `${'Averylongwordindeed'.repeat(20)} and a sentence about it.`.repeat(10);
    for (let n = 1; n <= 10; n++) await api.enqueue(id, `${n}. ${long}`);
    await page.goto(`${console.url}/console/s/${id}`);
    await page.getByLabel('Your name').fill(console.user);
    await page.getByRole('button', { name: 'Sign in' }).tap();
    await expect(queued(page)).toHaveCount(10);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    const field = page.getByRole('textbox', { name: 'Message' });
    await expect(field).toBeInViewport();
    await expect(page.getByRole('button', { name: 'Stop' })).toBeInViewport();
    await expect(console.said('agent')).toBeInViewport();
    await expectAccessible(page);

    await field.fill('The eleventh');
    await page.getByRole('button', { name: 'Add to the queue' }).tap();
    await expect(page.getByTestId('problem')).toContainText('10');
    await expect(field).toHaveValue('The eleventh');
    await expect(queued(page)).toHaveCount(10);
    await page.getByRole('button', { name: 'Remove from the queue' }).last().tap();
    await expect(queued(page)).toHaveCount(9);
  });
});
