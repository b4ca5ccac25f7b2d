// Automations in the settings.

import { ALL, onScreens } from '../support/screens.ts';
import { expectGood } from '../support/settings.ts';
import { expect, test } from '../support/test.ts';

onScreens(ALL, ({ width, resize }) => {
  test('an automation is made, acts, is stopped, changed and deleted', async ({
    console,
    api,
    page,
    faults,
  }) => {
    test.slow(); // many steps
    faults.allow(/status of 422/);
    await console.signIn('/settings/automations');
    await resize(page);
    await expect(page.getByText('There are no automations yet.')).toBeVisible();
    await expectGood(page, width);
    await page.getByRole('link', { name: 'New automation' }).click();
    const create = page.getByRole('button', { name: 'Create automation' });
    const agent = page.getByRole('textbox', { name: 'Ask the agent' });
    const question = page.getByRole('textbox', { name: 'Question' });

    await test.step('mistakes are shown at their fields', async () => {
      await page.getByRole('textbox', { name: 'Name' }).fill('Second look');
      await question.fill('What about ');
      await create.click();
      const when = page.getByRole('group', { name: 'When' });
      await expect(when).toBeFocused();
      await expect(when).toHaveAccessibleDescription(/type/i);
      await page.getByRole('checkbox', { name: /A session was created/ }).check();
      await agent.fill('nobody');
      await create.click();
      await expect(agent).toBeFocused();
      await expect(agent).toHaveAccessibleDescription(/no agent that is configured/i);
      await expectGood(page, width);
    });

    await test.step('it is created, with a value of the event in its question', async () => {
      await agent.fill('default');
      await page.getByText('Values of the event', { exact: true }).click();
      await expectGood(page, width);
      await page.getByRole('button', { name: '{{session_id}}' }).click();
      await expect(question).toHaveValue('What about {{session_id}}');
      await create.click();
      await expect(page.getByRole('heading', { name: 'Second look' })).toBeVisible();
      await expect(
        page.getByText('A session was created or imported → asks default'),
      ).toBeVisible();
      await expectGood(page, width);
    });

    await test.step('it acts', async () => {
      const { id } = await api.createSession({ name: 'Trip' });
      await expect
        .poll(async () => JSON.stringify(await api.events(id)))
        .toContain(`What about ${id}`);
      await page.reload();
      const run = page.getByTestId('last-run');
      await expect(run).toContainText('A session was created or imported');
      await expect(run).toContainText('Complete');
      await expectGood(page, width);
      await run.getByRole('link').click();
      await expect(console.said('user')).toHaveText(`What about ${id}`);
      await page.goBack();
    });

    await test.step('it is stopped, changed and started', async () => {
      await page.getByRole('button', { name: 'Stop' }).click();
      await expect(page.getByText('You have stopped it.')).toBeVisible();
      await page.getByRole('link', { name: 'Edit' }).click();
      await expect(question).toHaveValue('What about {{session_id}}');
      await expect(page.getByRole('checkbox', { name: /A session was created/ })).toBeChecked();
      await page.getByRole('checkbox', { name: /All about feedback/ }).check();
      await page.getByRole('checkbox', { name: 'Bad (down)' }).check();
      await page.getByRole('radio', { name: /In a new session/ }).check();
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByText(/All about feedback \(down\) → asks default/)).toBeVisible();
      await page.getByRole('button', { name: 'Start' }).click();
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
    });

    await test.step('it is deleted', async () => {
      await page.getByRole('button', { name: 'Delete' }).click();
      await page
        .getByRole('dialog', { name: 'Delete automation?' })
        .getByRole('button', { name: 'Delete' })
        .click();
      await expect(page.getByText('There are no automations yet.')).toBeVisible();
    });
  });
});
