// Rewinds.

import { expectAccessible } from '../support/accessible.ts';
import { menu, message, remember, rewinds } from '../support/rewinding.ts';
import { expect, test } from '../support/test.ts';

test('a rewind shows a preview, is executed, and puts the question into the draft', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'Trip' });
  await api.say(id, ['Where to?', 'Lisbon.']);
  await remember(api, id, 'Remember Porto', { city: 'Porto' });
  await api.say(id, ['And then?', 'Home.']);
  await console.signIn(`/s/${id}`);
  await menu(page, 'Remember Porto', 'Rewind to before this question');

  const dialog = page.getByRole('dialog', { name: 'Rewind to before this question?' });
  await expect(dialog).toContainText(
    'just before “Remember Porto”. The question is put into the message field, to be changed and sent. 4 messages will be hidden.',
  );
  await expect(dialog.getByTestId('restored')).toHaveText('city Porto removed');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();

  await expect(dialog).toBeHidden();
  await expect(console.said('user')).toHaveText(['Where to?']);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Remember Porto');
  expect(await api.send('GET', `/sessions/${id}/state`)).toMatchObject({ data: { merged: {} } });
  await page.reload();
  await expect(console.said('user')).toHaveText(['Where to?']);
});

test('a rewind to an answer keeps it, as a fork from it does', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Trip' });
  await api.say(id, ['One', 'First.'], ['Two', 'Second.'], ['Three', 'Third.']);
  await console.signIn(`/s/${id}`);
  await menu(page, 'First.', 'Fork from this answer');
  await page.getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Fork of Trip' })).toBeVisible();
  await expect(console.said('agent')).toHaveText(['First.']);

  await console.openSession(id);
  await page.getByRole('textbox', { name: 'Message' }).fill('Half a thought');
  await menu(page, 'First.', 'Rewind to this answer');
  const dialog = page.getByRole('dialog', { name: 'Rewind to this answer?' });
  await expect(dialog).toContainText('“First.”, which stays, and continues from there.');
  await expect(dialog).toContainText('4 messages will be hidden.');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
  await expect(console.said('user')).toHaveText(['One']);
  await expect(console.said('agent')).toHaveText(['First.']);
  const field = page.getByRole('textbox', { name: 'Message' });
  await expect(field).toHaveValue('Half a thought');
});

test('a rewound question precedes what was being written, until the rewind is undone', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  await console.signIn(`/s/${id}`);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Half a thought');
  await menu(page, 'Two', 'Rewind to before this question');
  await page.getByRole('button', { name: 'Rewind', exact: true }).click();
  await expect(field).toHaveValue('Two\n\nHalf a thought');
  await page.getByTestId('toast').getByRole('button', { name: 'Undo' }).click();
  await expect(field).toHaveValue('Half a thought');
  await expect(console.said('user')).toHaveText(['One', 'Two']);
});

test('the newest answer offers no rewind, since nothing follows it', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  await console.signIn(`/s/${id}`);
  await message(page, 'Second.').getByRole('button', { name: 'More' }).click();
  await expect(page.getByRole('menuitem', { name: 'Fork from this answer' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: /^Rewind/ })).toBeHidden();
});

test('a toast undoes a rewind', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  await console.signIn(`/s/${id}`);
  await menu(page, 'Two', 'Rewind to before this question');
  await page.getByRole('button', { name: 'Rewind', exact: true }).click();
  await expect(console.said('user')).toHaveText(['One']);
  await page.getByTestId('toast').getByRole('button', { name: 'Undo' }).click();
  await expect(console.said('user')).toHaveText(['One', 'Two']);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('');
});

test('the first question offers no rewind', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.']);
  await console.signIn(`/s/${id}`);
  await page.getByRole('article', { name: 'You' }).hover();
  await page.getByRole('article', { name: 'You' }).getByRole('button', { name: 'More' }).click();
  await expect(
    page.getByRole('menuitem', { name: 'Fork from before this question' }),
  ).toBeVisible();
  await expect(page.getByRole('menuitem', { name: /^Rewind/ })).toBeHidden();
});

test('all tabs show the same after a rewind, without a reload', async ({
  console,
  api,
  page,
  openTab,
}) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.'], ['Three', 'Third.']);
  await console.signIn(`/s/${id}`);
  const other = await openTab(id);
  await expect(other.said('user')).toHaveText(['One', 'Two', 'Three']);
  await menu(page, 'Two', 'Rewind to before this question');
  await page.getByRole('button', { name: 'Rewind', exact: true }).click();
  await expect(other.said('user')).toHaveText(['One']);
  await expect(console.said('user')).toHaveText(['One']);
  await expect.poll(() => other.bubbles()).toEqual(await console.bubbles());

  await console.ask('Another');
  await console.waitFor('idle');
  await expect(other.said('user')).toHaveText(['One', 'Another']);
  await other.waitFor('idle');
  expect(await other.bubbles()).toEqual(await console.bubbles());
});

test('several clicks send one rewind', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  await console.signIn(`/s/${id}`);
  let sent = 0;
  page.on('request', (request) => {
    if (rewinds(request)) sent++;
  });
  await menu(page, 'Two', 'Rewind to before this question');
  const button = page.getByRole('button', { name: 'Rewind', exact: true });
  await expect(button).toBeEnabled();
  await button.dblclick();
  await expect(console.said('user')).toHaveText(['One']);
  expect(sent).toBe(1);
  await expect(page.getByTestId('toast')).toHaveCount(1);
});

test('a rewind stops an answer in progress', async ({ console, api, page }) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.']);
  await console.signIn(`/s/${id}`);
  await console.ask('/long 2000');
  await expect(console.said('agent').last()).toContainText('word3 ');
  await menu(page, '/long 2000', 'Rewind to before this question');
  await expect(page.getByRole('dialog')).toContainText('It will be stopped.');
  await page.getByRole('button', { name: 'Stop the answer and rewind' }).click();
  await expect(console.said('user')).toHaveText(['One']);
  await console.waitFor('idle');
});

test('a run that starts meanwhile is reported and then stopped', async ({
  console,
  api,
  page,
  faults,
}) => {
  faults.allow(/409/);
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  await console.signIn(`/s/${id}`);
  await menu(page, 'Two', 'Rewind to before this question');
  await expect(page.getByRole('button', { name: 'Rewind', exact: true })).toBeEnabled();
  let started = '';
  // The run starts while the request is sent, before the page can know
  await page.route('**/rewind', async (route) => {
    if (!started && rewinds(route.request())) started = await api.ask(id, '/long 2000');
    await route.continue();
  });
  await page.getByRole('button', { name: 'Rewind', exact: true }).click();
  await expect(page.getByTestId('toast')).toContainText('a run is in progress');
  await page.getByRole('button', { name: 'Stop the answer and rewind' }).click();
  await expect(console.said('user')).toHaveText(['One']);
});

test('values changed by other sessions are kept unless the user chooses otherwise', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.']);
  await remember(api, id, 'In English', { 'user:language': 'en' });
  const other = await api.createSession();
  await remember(api, other.id, 'Auf Deutsch', { 'user:language': 'de' });
  await console.signIn(`/s/${id}`);
  await menu(page, 'In English', 'Rewind to before this question');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Changed by other chats since: user:language');
  await expect(dialog).toContainText('State and artifacts stay as they are.');
  await dialog.getByLabel('Restore the old values for all chats').check();
  await expect(dialog.getByTestId('restored')).toHaveText('user:language de removed');
  await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
  await expect(console.said('user')).toHaveText(['One']);
  expect(await api.send('GET', `/sessions/${id}/state`)).toMatchObject({ data: { user: {} } });
});

test("the server's reason for rejecting a rewind is shown", async ({
  console,
  api,
  page,
  faults,
}) => {
  faults.allow(/status of 500/);
  const { id } = await api.createSession();
  await api.say(id, ['One', 'First.'], ['Two', 'Second.']);
  await console.signIn(`/s/${id}`);
  await menu(page, 'Two', 'Rewind to before this question');
  const button = page.getByRole('button', { name: 'Rewind', exact: true });
  await expect(button).toBeEnabled();
  const detail = 'The table is on fire.';
  await page.route('**/rewind', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      json: { type: 'about:blank', title: 'Internal Server Error', status: 500, detail },
    }),
  );
  await button.click();
  await expect(page.getByTestId('toast')).toContainText(detail);
  await expect(button).toBeEnabled();
  await page.unroute('**/rewind');
  await button.click();
  await expect(console.said('user')).toHaveText(['One']);
});
