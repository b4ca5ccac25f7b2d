// Many shares on a small screen.

import { expectAccessible } from '../support/accessible.ts';
import { expect, test } from '../support/people.ts';
import { createLink, openDialog, share } from '../support/sharing.ts';

const NAME = 'A trip to Lisbon';

test.describe('with a hundred shares on a phone', () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`nothing overflows, ${colorScheme}`, async ({ api, console, faults, page }) => {
      faults.allow(/status of 409/);
      await page.emulateMedia({ colorScheme });
      const { id } = await api.createSession({ name: `${NAME} ${'and further '.repeat(15)}` });
      await api.say(id, ['Hello', 'Hello!']);
      const people = ['x'.repeat(256), `مستخدم-${'ط'.repeat(60)}`, 'a b', 'bob'];
      for (let i = 0; i < 99; i++) {
        const user = i < people.length ? people[i] : `person-${i}`;
        await share(api, id, { user_id: user, access: i % 2 ? 'read' : 'write', expires_in: 9e7 });
      }
      await console.signIn(`/s/${id}`);
      await page.setViewportSize({ width: 375, height: 667 });
      const dialog = await openDialog(page);
      const rows = dialog.getByTestId('share');
      await expect(rows).toHaveCount(99);
      await expect(dialog.getByTitle('x'.repeat(256), { exact: true })).toBeAttached();
      await createLink(dialog);
      await expect(rows).toHaveCount(100);
      const fits = () =>
        page.evaluate(() =>
          [document.documentElement, ...document.querySelectorAll('.share, .share-body')].every(
            (element) => element.scrollWidth <= element.clientWidth,
          ),
        );
      expect(await fits()).toBe(true);
      const last = rows.filter({ hasText: 'مستخدم' });
      await last.scrollIntoViewIfNeeded();
      await last.getByRole('button').click();
      expect(await fits()).toBe(true);
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
      await expect(rows).toHaveCount(99);
      // The hundredth can be created again, one more is refused with a reason.
      await dialog.getByLabel('A person').check();
      for (const user of ['last', 'one too many']) {
        await dialog.getByLabel('User id').fill(user);
        await dialog.getByRole('button', { name: 'Share', exact: true }).click();
        if (user === 'last') await expect(rows).toHaveCount(100);
      }
      await expect(dialog.getByRole('alert')).toContainText('at most 100 shares');
    });
  }
});
