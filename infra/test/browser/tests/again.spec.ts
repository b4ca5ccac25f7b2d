// Questions asked anew in their place: edited, or for another answer; and the way back.

import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible.ts';
import { Api } from '../support/api.ts';
import { message, remember, rewinds } from '../support/rewinding.ts';
import { expect, test } from '../support/test.ts';
import { trip } from '../support/trip.ts';

async function edit(page: Page, question: string, text: string): Promise<void> {
  const asked = page.getByRole('article', { name: 'You' }).filter({ hasText: question });
  await asked.hover();
  await asked.getByRole('button', { name: 'Edit' }).click();
  const field = page.getByRole('textbox', { name: 'Edit the question' });
  await expect(field).toHaveValue(question);
  await expect(field).toBeFocused();
  await field.fill(text);
}

const regenerate = async (page: Page, answer: string): Promise<void> => {
  await message(page, answer).hover();
  await message(page, answer).getByRole('button', { name: 'Regenerate' }).click();
};

const undo = (page: Page) => page.keyboard.press('Control+z');

/** Puts the focus out of the message field. */
const leaveField = (page: Page) => page.getByTestId('thread').focus();

test('a question is edited and asked again in its place', async ({
  console,
  api,
  page,
  openTab,
}) => {
  const id = await trip(api);
  await console.signIn(`/s/${id}`);
  const other = await openTab(id);
  await edit(page, 'Two', 'Two, please');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Ask again' }).click();
  await expect(console.said('user')).toHaveText(['One', 'Two, please']);
  await console.waitFor('idle');
  await expect(console.said('agent').last()).toContainText('You said: "Two, please"');
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeFocused();
  await expect(other.said('user')).toHaveText(['One', 'Two, please']);
  await other.waitFor('idle');
  expect(await other.bubbles()).toEqual(await console.bubbles());

  await leaveField(page);
  await undo(page);
  for (const tab of [console, other]) {
    await expect(tab.said('user')).toHaveText(['One', 'Two', 'Three']);
  }
  await expect(page.getByTestId('toast').last()).toContainText('Undone.');
});

test('Escape leaves a question as it is, and Enter asks it again', async ({
  console,
  api,
  page,
}) => {
  const id = await trip(api);
  await console.signIn(`/s/${id}`);
  await edit(page, 'Three', 'Never');
  await page.keyboard.press('Escape');
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Three']);
  const asked = page.getByRole('article', { name: 'You' }).last();
  await expect(asked.getByRole('button', { name: 'Edit' })).toBeFocused();
  await edit(page, 'Three', 'Four');
  await page.keyboard.press('Enter');
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Four']);
  await console.waitFor('idle');
  expect((await api.session(id)).epoch).toBe(1);
});

test('the first question can be edited while its answer is written, which stops', async ({
  console,
  api,
  page,
}) => {
  await console.signIn();
  await console.ask('/long 2000');
  await expect(console.said('agent')).toContainText('word5 ');
  await edit(page, '/long 2000', 'Short, please');
  await page.keyboard.press('Enter');
  await expect(console.said('agent')).toContainText('You said: "Short, please"');
  await console.waitFor('idle');
  await expect(console.said('user')).toHaveText(['Short, please']);
  expect(await api.events(console.sessionId)).toHaveLength(2);
});

test('any answer can be had again, and state follows', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.']);
  await remember(api, id, 'Remember Porto', { city: 'Porto' });
  const state = async () => await api.send('GET', `/sessions/${id}/state`);
  await console.signIn(`/s/${id}`);
  await regenerate(page, 'First.');
  await expect(console.said('agent')).toContainText(['You said: "One"']);
  await console.waitFor('idle');
  await expect(console.said('user')).toHaveText(['One']);
  expect(await state()).toMatchObject({ data: { merged: {} } });

  await regenerate(page, 'You said: "One"');
  await expect.poll(async () => (await api.session(id)).epoch).toBe(2);
  await expect.poll(async () => (await api.events(id)).length).toBe(2);
  await console.waitFor('idle');
  await leaveField(page);
  await undo(page);
  await expect.poll(async () => (await api.session(id)).epoch).toBe(3);
  await expect(page.getByTestId('toast').last()).toContainText('Undone.');
  await undo(page);
  await expect(console.said('agent')).toHaveText(['First.', 'I remember.']);
  expect(await state()).toMatchObject({ data: { merged: { city: 'Porto' } } });
});

test('an edited question that cannot be asked becomes the draft', async ({
  console,
  api,
  page,
  faults,
}) => {
  faults.allow(/status of 422/);
  const id = await trip(api);
  await console.signIn(`/s/${id}`);
  await page.route('**/runs', (route) =>
    route.fulfill({
      status: 422,
      contentType: 'application/problem+json',
      json: { type: 'about:blank', title: 'Unprocessable', status: 422, detail: 'No such agent.' },
    }),
  );
  await edit(page, 'Two', 'Two, please');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('problem')).toContainText('No such agent.');
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Two, please');
  await expect(console.said('user')).toHaveText(['One']);
  await page.getByTestId('toast').getByRole('button', { name: 'Undo' }).click();
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Three']);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Two, please');
});

test('an undo takes away nothing that was asked elsewhere since', async ({
  console,
  api,
  page,
}) => {
  const id = await trip(api);
  await console.signIn(`/s/${id}`);
  await regenerate(page, 'Second.');
  await expect(console.said('agent')).toContainText(['First.', 'You said: "Two"']);
  await console.waitFor('idle');
  await api.say(id, ['From elsewhere', 'Indeed.']);
  await expect(console.said('user')).toHaveText(['One', 'Two', 'From elsewhere']);
  let sent = 0;
  page.on('request', (request) => {
    if (rewinds(request)) sent++;
  });
  await leaveField(page);
  await undo(page);
  await expect(page.getByTestId('toast').last()).toContainText('the chat has gone on since');
  await expect(console.said('user')).toHaveText(['One', 'Two', 'From elsewhere']);
  expect(sent).toBe(0);
});

test('in a text field the key keeps its usual meaning', async ({ console, api, page }) => {
  const id = await trip(api);
  await console.signIn(`/s/${id}`);
  await regenerate(page, 'Third.');
  await console.waitFor('idle');
  await expect.poll(async () => (await api.session(id)).epoch).toBe(1);
  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('Hm');
  await undo(page);
  await expect(page.getByRole('textbox', { name: 'Message' })).not.toHaveValue('Hm');
  expect((await api.session(id)).epoch).toBe(1);
});

test('a reader is offered neither', async ({ console, api, page, user }) => {
  const owner = new Api(api.url, `${user}-owner`);
  const id = await trip(owner);
  await owner.send('POST', `/sessions/${id}/shares`, { user_id: user, access: 'read' });
  await console.signIn(`/s/${id}`);
  await expect(console.said('user')).toHaveText(['One', 'Two', 'Three']);
  await expect(page.getByText('You can read this chat.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Edit' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Regenerate' })).toHaveCount(0);
  const thread = page.getByTestId('thread');
  await expect(thread.getByRole('button', { name: 'Copy' })).toHaveCount(6);
});
