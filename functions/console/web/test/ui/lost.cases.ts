// What is written is not lost: too long texts, edits in progress.

import { expect, screen, test, waitFor, within } from './page';

const field = () => screen.findByRole('textbox', { name: 'Message' });
const nav = () => screen.findByRole('navigation', { name: 'Chats' });
const go = async (page: { user: { click: (e: Element) => Promise<void> } }, name: string) =>
  page.user.click(await within(await nav()).findByRole('link', { name: new RegExp(`^${name}`) }));

test('a text that is too long for the field becomes a file when it is pasted', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Logs' });
  await page.openSession(id);
  const text = 'x'.repeat(99_990);
  await page.fill('Message', 'What is wrong here? ');
  await page.user.paste(text);
  const [chip] = await screen.findAllByTestId('draft-file');
  expect(chip).toHaveTextContent('Pasted text.txt');
  expect(await field()).toHaveValue('What is wrong here? ');
  expect(await screen.findByText(/It was attached as a file/)).toBeVisible();
  expect(page.app?.chat.value?.files.list.value[0]?.file.size).toBe(text.length);
  expect(screen.getByRole('button', { name: 'Send' })).toBeEnabled();
});

test('a text that grows too long in the field stays there, and can be attached', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Logs' });
  await page.openSession(id);
  await page.fill('Message', 'y'.repeat(100_000));
  await page.user.keyboard('abc');
  expect(await field()).toHaveValue(`${'y'.repeat(100_000)}abc`);
  expect(screen.getByText(/^3 characters too many/)).toBeVisible();
  expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled();
  await page.user.keyboard('{Enter}');
  expect(api.askedFor('POST /sessions/{session_id}/runs')).toEqual([]);
  await page.click('button', 'Attach it as a file');
  expect(await field()).toHaveValue('');
  expect((await screen.findAllByTestId('draft-file')).length).toBe(1);
  expect(screen.queryByText(/characters too many/)).toBeNull();
});

test('a long question is folded', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Logs' });
  const [long, lines] = ['word '.repeat(18_000), 'line\n'.repeat(100)];
  api.say(id, [long, 'Long.'], [lines, 'Many.'], ['x'.repeat(2400), 'Short.']);
  await page.openSession(id);
  const lengths = () => page.said('user').map((text) => text.length);
  await waitFor(() => expect(lengths().length).toBe(3));
  expect(lengths()[0]).toBeLessThan(2100);
  expect(lengths()[1]).toBeLessThan(250);
  expect(lengths()[2]).toBe(2400);
  const [first] = screen.getAllByRole('button', { name: /^Show all/ });
  await page.user.click(first as HTMLElement);
  expect(lengths()[0]).toBeGreaterThan(89_990);
  await page.click('button', 'Show less');
  expect(lengths()[0]).toBeLessThan(2100);
});

test('an edit in progress is kept while another chat is open, and across a reload', async ({
  api,
  page,
}) => {
  const trip = api.createSession({ name: 'Trip' });
  api.createSession({ name: 'Bread' });
  api.say(trip.id, ['Where?', 'Here.'], ['When?', 'Now.']);
  await page.openSession(trip.id);
  await page.user.click(screen.getAllByRole('button', { name: 'Edit' })[0] as HTMLElement);
  await page.fill('Edit the question', 'Where exactly?');
  await go(page, 'Bread');
  await waitFor(() => expect(screen.queryByTestId('editor')).toBeNull());
  await go(page, 'Trip');
  const edited = () => screen.findByRole('textbox', { name: 'Edit the question' });
  await waitFor(async () => expect(await edited()).toHaveValue('Where exactly?'));
  page.reload();
  await waitFor(async () => expect(await edited()).toHaveValue('Where exactly?'));
  await page.click('button', 'Cancel');
  await waitFor(() => expect(screen.queryByTestId('editor')).toBeNull());
  page.reload();
  await waitFor(() => expect(page.said('user')).toEqual(['Where?', 'When?']));
});

test('what was made of a question goes into the message field when another one is edited', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.say(id, ['Where?', 'Here.'], ['When?', 'Now.']);
  await page.openSession(id);
  const edit = (at: number) =>
    page.user.click(screen.getAllByRole('button', { name: 'Edit' }).at(at) as HTMLElement);
  await edit(0);
  await edit(-1);
  expect(await field()).toHaveValue('');
  await page.fill('Edit the question', 'When exactly?');
  await edit(0);
  expect(await screen.findByRole('textbox', { name: 'Edit the question' })).toHaveValue('Where?');
  expect(await field()).toHaveValue('When exactly?');
});
