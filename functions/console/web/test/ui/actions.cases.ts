// The actions of a message: buttons and a menu, or on touch screens the menu alone.

import { expect, screen, test, waitFor, within } from './page';
import { rewinding } from './rewinding';

const message = (text: string) =>
  screen.getAllByTestId('message').find((one) => one.textContent?.includes(text)) as HTMLElement;
const buttons = (text: string) =>
  within(message(text))
    .getAllByRole('button')
    .map((button) => button.getAttribute('aria-label') ?? button.textContent);

test('where there is a mouse, some actions are buttons', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.say(id, ['Where?', 'Here.'], ['When?', 'Now.']);
  await page.openSession(id);
  await waitFor(() => expect(page.said('agent')).toEqual(['Here.', 'Now.']));
  expect(buttons('Where?')).toEqual(['Copy', 'Edit', 'More']);
  expect(buttons('Now.')).toEqual(['Good answer', 'Bad answer', 'Copy', 'Regenerate', 'More']);
});

test('on a touch screen, a message has one menu with all of them', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.say(id, ['Where?', 'Here.'], ['When?', 'Now.']);
  page.open(`/s/${id}`, { narrow: true });
  await waitFor(() => expect(page.said('agent')).toEqual(['Here.', 'Now.']));
  expect(buttons('Where?')).toEqual(['More']);
  expect(buttons('Now.')).toEqual(['More']);
  const open = async (text: string) =>
    page.user.click(within(message(text)).getByRole('button', { name: 'More' }));
  await open('Now.');
  const all = [...document.querySelectorAll('[role^=menuitem]')].map((item) => item.textContent);
  expect(all).toEqual([
    'Good answer',
    'Bad answer',
    'Copy',
    'Regenerate',
    'Fork from this answer',
    'State at this point',
  ]);
  await page.click('menuitemcheckbox', 'Good answer');
  await page.fill('Your comment', 'Just so.');
  await page.user.keyboard('{Enter}');
  await waitFor(() => expect(api.askedFor('POST /feedback').length).toBe(2));
  await open('Now.');
  expect(screen.getByRole('menuitemcheckbox', { name: 'Good answer' })).toBeChecked();
  await page.user.keyboard('{Escape}');

  await open('When?');
  rewinding(api, id, { now: {}, restored: {} });
  await page.click('menuitem', 'Edit');
  await page.fill('Edit the question', 'When exactly?');
  await page.click('button', 'Ask again');
  await waitFor(() => expect(api.said(id).at(-1)).toBe('When exactly?'));
});
