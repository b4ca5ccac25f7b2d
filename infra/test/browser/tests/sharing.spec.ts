// Sharing a chat with people, in the browsers of its owner and of the guests.

import { expectAccessible } from '../support/accessible.ts';
import { expect, test } from '../support/people.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { openDialog, revoke, share } from '../support/sharing.ts';

const NAME = 'A trip to Lisbon';

onScreens(ALL, ({ colorScheme, openList, resize }) => {
  test('a person gets access, and loses it with one press', async ({
    another,
    api,
    console,
    faults,
    page,
  }) => {
    faults.allow(/status of 403/); // for what the guest requests after the end
    const bob = await another('bob', { colorScheme });
    const { id } = await api.createSession({ name: NAME });
    await api.say(id, ['Is it warm in May?', 'Around 22 degrees.']);
    await console.signIn(`/s/${id}`);
    await resize(page);
    const dialog = await openDialog(page);
    await expect(dialog.getByText('Only you.')).toBeVisible();
    await dialog.getByLabel('User id').fill(bob.user);
    await dialog.getByRole('combobox', { name: 'Access' }).selectOption('Can write');
    await dialog.getByLabel('Duration').selectOption('For 7 days');
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    const row = dialog.getByTestId('share');
    await expect(row).toContainText(bob.user);
    await expect(row).toContainText(/Can write · since .* · until /);
    await expectAccessible(page);

    await bob.console.signIn();
    const theirs = bob.console.page;
    await resize(theirs);
    await openList(theirs);
    await theirs.getByRole('button', { name: 'Shared with me' }).click();
    await expect(theirs.getByTestId('user-id')).toHaveText(bob.user);
    await theirs.getByRole('link', { name: NAME }).click();
    await expect(theirs.getByTestId('owner')).toContainText(`shared by ${console.user}`);
    await bob.console.ask('/long 2000');
    await bob.console.waitFor('in_progress');
    await theirs.getByRole('textbox', { name: 'Message' }).fill('What I was about to ask');

    await dialog.getByRole('button', { name: /Revoke the access/ }).click();
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await dialog.getByRole('button', { name: /Revoke the access/ }).click();
    await expect(dialog.getByRole('button', { name: 'Revoke', exact: true })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(dialog.getByText('Only you.')).toBeVisible();
    await expect(theirs.getByText('This chat is no longer shared with you.')).toBeVisible();
    await expect(theirs.getByTestId('unsent')).toContainText('What I was about to ask');
    await openList(theirs);
    await expect(theirs.getByText('Chats that others share with you')).toBeVisible();
    await expect(console.chat).toHaveAttribute('data-status', 'in_progress'); // the run goes on
  });
});

test('access that expires ends in the open chat, though nothing happens there', async ({
  another,
  api,
  faults,
}) => {
  faults.allow(/status of 403/);
  const bob = await another('bob');
  const { id } = await api.createSession({ name: NAME });
  await api.say(id, ['Is it warm in May?', 'Around 22 degrees.']);
  const lasting = await share(api, id, { user_id: bob.user, access: 'write' });
  await bob.console.signIn(`/s/${id}`);
  const theirs = bob.console.page;
  const composer = theirs.getByRole('textbox', { name: 'Message' });
  await composer.fill('Too late');
  const ended = theirs.getByRole('heading', { name: /no longer shared|has expired/ });
  await expect(ended).toHaveCount(0);
  // The chat is open before the time runs, however slow the machine is
  const passing = await share(api, id, { user_id: bob.user, access: 'write', expires_in: 3 });
  await revoke(api, id, lasting);
  await expect(ended).toBeVisible();
  expect(passing.expires_time).toEqual(expect.any(Number));
  expect(Date.now()).toBeGreaterThanOrEqual(Number(passing.expires_time));
  await expect(theirs.getByTestId('unsent')).toContainText('Too late');
});

test('a reader is offered nothing that would be refused, a writer no more than the rule', async ({
  another,
  api,
  console,
  page,
}) => {
  const bob = await another('bob');
  const { id } = await api.createSession({ name: NAME });
  await api.say(id, ['One?', 'One.'], ['Two?', 'Two.'], ['Three?', 'Three.']);
  await api.put(id, 'plan.md', 'text/markdown', '# Plan');
  const reading = await share(api, id, { user_id: bob.user, access: 'read' });
  await bob.console.signIn(`/s/${id}`);
  const theirs = bob.console.page;
  const composer = theirs.getByRole('textbox', { name: 'Message' });
  await expect(theirs.getByTestId('reading')).toContainText('You can read this chat.');
  await expect(composer).toBeHidden();
  await expect(theirs.getByRole('button', { name: /Good answer|Rename/ })).toHaveCount(0);
  await expect(theirs.getByTitle('Rename')).toHaveCount(0);
  const menuOf = async (answer: string) => {
    const message = theirs.getByTestId('message').filter({ hasText: answer });
    await message.hover();
    await message.getByRole('button', { name: 'More' }).click();
    const items = await theirs.getByRole('menuitem').allTextContents();
    await theirs.keyboard.press('Escape');
    return items;
  };
  expect(await menuOf('Two.')).toEqual(['State at this point']);
  await theirs.getByRole('button', { name: 'Chat options' }).click();
  expect(await theirs.getByRole('menuitem').allTextContents()).toEqual(['Leave']);
  await theirs.keyboard.press('Escape');
  await theirs.getByRole('button', { name: 'Side panel' }).click();
  await theirs.getByRole('tab', { name: 'Artifacts' }).click();
  await expect(theirs.getByRole('button', { name: /plan\.md/ })).toBeVisible();
  await expect(theirs.getByRole('button', { name: 'Upload' })).toHaveCount(0);
  await expectAccessible(theirs);

  // The owner lets the reader write: the open chat follows.
  await share(api, id, { user_id: bob.user, access: 'write' });
  await revoke(api, id, reading);
  await expect(composer).toBeVisible();
  await expect(theirs.getByRole('button', { name: 'Upload' })).toBeVisible();
  await expect(theirs.getByText('For all my chats')).toHaveCount(0);
  const offered = await menuOf('Two.');
  expect(offered).toContain('Rewind to this answer');
  expect(offered.filter((item) => item.startsWith('Fork'))).toEqual([]);
  await theirs.getByRole('button', { name: /plan\.md/ }).click();
  await expect(theirs.getByRole('button', { name: 'Download' })).toBeVisible();
  await expect(theirs.getByRole('button', { name: 'Delete' })).toHaveCount(0);
  await bob.console.ask('Four?');
  await console.signIn(`/s/${id}`);
  await expect(console.said('user').last()).toHaveText('Four?');
  await expect(page.getByTestId('owner')).toHaveCount(0);
});

test('shared chats are searched, and left', async ({ another, api, faults }) => {
  faults.allow(/status of 403/); // for what was on its way when she left
  const eve = await another('eve');
  const ids: string[] = [];
  for (const name of ['Bread with less salt', NAME]) {
    const { id } = await api.createSession({ name });
    await api.say(id, ['Hello', 'Hello!']);
    await share(api, id, { user_id: eve.user, access: 'read' });
    ids.push(id);
  }
  await eve.console.signIn();
  const theirs = eve.console.page;
  const sessions = theirs.getByRole('navigation', { name: 'Chats' }).getByTestId('session');
  await expect(sessions).toHaveCount(0);
  await theirs.getByRole('button', { name: 'Shared with me' }).click();
  await expect(sessions).toHaveCount(2);
  await theirs.getByRole('searchbox').fill('lisbon trip');
  await expect(sessions).toHaveText([new RegExp(NAME)]);
  await theirs.getByRole('button', { name: 'Mine' }).click();
  await expect(theirs.getByText('No matching chats.')).toBeVisible();
  await theirs.getByRole('button', { name: 'Shared with me' }).click();
  await theirs.getByRole('searchbox').fill('');
  await expect(sessions).toHaveCount(2);

  await sessions.filter({ hasText: NAME }).getByRole('link').click();
  await expect(theirs.getByTestId('reading')).toBeVisible();
  await theirs.getByRole('button', { name: 'Chat options' }).click();
  await theirs.getByRole('menuitem', { name: 'Leave' }).click();
  await theirs.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await expect(theirs).toHaveURL(/\/console\/?$/);
  await expect(sessions).toHaveCount(1);
});
