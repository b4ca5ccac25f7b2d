// Links to shared chats: made by the owner, opened by guests.

import { expectAccessible } from '../support/accessible.ts';
import { expect, test } from '../support/people.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { createLink, openDialog, revoke, share } from '../support/sharing.ts';

const NAME = 'A trip to Lisbon';

onScreens(ALL, ({ colorScheme, openList, resize }) => {
  test('a link is shown once, and a new guest comes in by it', async ({
    another,
    api,
    console,
    context,
    page,
  }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { id } = await api.createSession({ name: NAME });
    await api.say(id, ['Is it warm in May?', 'Around 22 degrees.']);
    await console.signIn(`/s/${id}`);
    await resize(page);
    let dialog = await openDialog(page);
    const link = await createLink(dialog);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
    await expect(dialog.getByTestId('share')).toContainText('not accepted yet');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Done' }).click();
    dialog = await openDialog(page);
    await expect(dialog.getByTestId('share')).toContainText('Link');
    await expect(dialog.getByRole('textbox', { name: 'Link', exact: true })).toHaveCount(0);

    const carol = await another('carol', { colorScheme });
    const theirs = carol.console.page;
    await resize(theirs);
    const secret = new URL(link).hash.slice(1).split('/')[0] ?? '';
    expect(secret.length).toBeGreaterThan(20);
    const leaks: string[] = [];
    theirs.on('request', (request) => {
      const sent = request.url() + JSON.stringify(request.headers());
      if (sent.includes(secret)) leaks.push(request.url());
    });
    const response = await theirs.goto(link);
    expect(response?.headers()['referrer-policy']).toBe('no-referrer');
    await expect(theirs.getByText('You were invited to a chat. Sign in to open it.')).toBeVisible();
    await theirs.getByLabel('Your name').fill(carol.user);
    await theirs.getByRole('button', { name: 'Sign in' }).click();
    await expect(theirs.getByRole('heading', { name: 'You were invited to a chat' })).toBeVisible();
    await expectAccessible(theirs);

    // In two tabs at once.
    const other = await theirs.context().newPage();
    await resize(other);
    await other.goto(link);
    await Promise.all(
      [theirs, other].map((tab) => tab.getByRole('button', { name: 'Accept and open' }).click()),
    );
    for (const tab of [theirs, other]) {
      await expect(tab.getByText('Around 22 degrees.')).toBeVisible();
      await expect(tab).toHaveURL(new RegExp(`/console/s/${id}$`));
      await tab.goBack(); // the address with the secret is not in the history
      expect(tab.url()).not.toContain(secret);
    }
    expect(leaks).toEqual([]);
    await other.goto(link); // accepted already
    await other.getByRole('button', { name: 'Accept and open' }).click();
    await expect(other.getByText('Around 22 degrees.')).toBeVisible();
    await openList(other);
    const list = other.getByRole('navigation', { name: 'Chats' });
    await expect(list.getByTestId('session')).toContainText(`can read · from ${console.user}`);
    await dialog.getByRole('button', { name: 'Done' }).click();
    dialog = await openDialog(page);
    await expect(dialog.getByTestId('share')).toContainText('accepted by 1 person');
  });
});

test('a link that leads nowhere says so, and leads on', async ({
  another,
  api,
  console,
  faults,
  page,
}) => {
  faults.allow(/status of (404|422)/);
  const { id } = await api.createSession({ name: NAME });
  const made = await share(api, id, { access: 'read' });
  const dave = await another('dave');
  const theirs = dave.console.page;
  await dave.console.signIn('/join#not%20a%20link');
  await expect(theirs.getByRole('heading', { name: 'This link is incomplete' })).toBeVisible();
  await expectAccessible(theirs);

  await revoke(api, id, made);
  await theirs.goto(`${console.url}/console/join#${made.token}`); // the same tab: the fragment changes
  await theirs.getByRole('button', { name: 'Accept and open' }).click();
  await expect(theirs.getByRole('heading', { name: /does not work any more/ })).toBeVisible();
  expect(theirs.url()).not.toContain(made.token);
  await theirs.getByRole('link', { name: 'New chat' }).last().click();
  await expect(theirs.getByRole('textbox', { name: 'Message' })).toBeVisible();

  await console.signIn(`/s/${id}`);
  const link = await createLink(await openDialog(page));
  await page.goto(link);
  await page.getByRole('button', { name: 'Accept and open' }).click();
  await expect(page.getByRole('heading', { name: /leads to your own chat/ })).toBeVisible();
  await page.getByRole('link', { name: 'Open the chat' }).click();
  await expect(page).toHaveURL(new RegExp(`/console/s/${id}$`));
});
