// From the list of the user's own feedback to the message in its chat.

import { expect, test } from '../support/test.ts';

test('feedback leads to its message', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'A trip' });
  const turns = Array.from({ length: 30 }, (_, i): [string, string] => [`Q ${i}.`, `A ${i}.`]);
  await api.say(id, ...turns);
  await console.signIn('/settings/feedback');
  await expect(page.getByText('You have given no feedback yet.')).toBeVisible();

  await console.openSession(id);
  const answer = page.getByTestId('message').filter({ hasText: 'A 29.' });
  await answer.hover();
  await answer.getByRole('button', { name: 'Bad answer' }).click();
  await answer.getByRole('textbox', { name: 'Your comment' }).fill(`No. ${'Long '.repeat(80)}`);
  await answer.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(answer.locator('.feedback-text')).toBeVisible();

  await console.open('/settings/feedback');
  const given = page.getByTestId('given');
  await expect(given).toHaveCount(1);
  await expect(given).toContainText('Q 29.');
  await expect(given).toContainText('Bad answer');
  await expect(given).toContainText('A trip');
  await given.getByText('Changed: what it was before').click();
  await expect(given.getByRole('listitem')).toHaveText(/^Bad answer, /);
  await given.getByText(/^“No\./).click();
  await page.getByRole('combobox', { name: 'Which feedback' }).selectOption('Good answers');
  await expect(page.getByText('There is no such feedback.')).toBeVisible();
  await page.getByRole('combobox', { name: 'Which feedback' }).selectOption('Bad answers');
  await given.getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(id));
  await expect(answer).toBeInViewport();
});
