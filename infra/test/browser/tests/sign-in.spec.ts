// Signing in and out.

import { expectAccessible } from '../support/accessible.ts';
import { enterAt, signInAt, startProvided } from '../support/identity.ts';
import { expect, test } from '../support/people.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { createLink, openDialog } from '../support/sharing.ts';

onScreens(ALL, ({ openList }) => {
  test('a name is enough on this machine and is remembered', async ({ console, page, user }) => {
    await console.open();
    await console.fillIn();
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    await page.reload();
    await openList(page);
    await expect(page.getByTestId('user')).toHaveText(user);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  });
});

test('the requested address is shown after signing in', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'A talk' });
  await api.say(id, ['What is this?', 'A session of long ago.']);
  await console.open(`/s/${id}`);
  await console.fillIn();
  await expect(page.getByText('A session of long ago.')).toBeVisible();
});

/** A test against a system with an identity provider whose tokens have a lifetime in seconds. */
function provided(tokenLife: number) {
  return test.extend<object, { system: { url: string; issuer: string } }>({
    system: [
      async ({}, use) => {
        const system = await startProvided(tokenLife);
        await use(system);
        await system.stop();
      },
      { scope: 'worker', timeout: 300_000 },
    ],
    url: async ({ system }, use) => use(system.url),
  });
}

const lasting = provided(3600);

lasting(
  'the code flow with PKCE leads back to where one was',
  async ({ console, faults, page, user }) => {
    await console.open();
    await expectAccessible(page);
    await enterAt(page, faults, user);
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    await console.ask('Hello');
    await expect(console.said('agent')).toContainText('You said: "Hello"');
    await page.reload();
    await expect(console.said('agent')).toContainText('You said: "Hello"');
  },
);

lasting(
  'a link to a shared chat is kept while its guest signs in',
  async ({ another, console, faults, page, user }) => {
    await console.open();
    await signInAt(page, faults, user);
    await console.ask('Hello');
    await expect(console.said('agent')).toContainText('You said: "Hello"');
    const link = await createLink(await openDialog(page));
    const secret = new URL(link).hash.slice(1).split('/')[0] ?? '';

    const guest = await another('guest');
    const theirs = guest.console.page;
    const sent: string[] = [];
    theirs.on('request', (request) => sent.push(request.url() + request.headers().referer));
    await theirs.goto(link);
    await signInAt(theirs, faults, guest.user);
    await theirs.getByRole('button', { name: 'Accept and open' }).click();
    await expect(guest.console.said('agent')).toContainText('You said: "Hello"');
    expect(sent.filter((one) => one.includes(secret))).toEqual([]);
    await theirs.getByRole('button', { name: 'Shared with me' }).click();
    await expect(theirs.getByTestId('user-id')).toHaveText(guest.user); // not the name
  },
);

lasting('a link is kept when the sign-in fails', async ({ another, console, faults, system }) => {
  const guest = await another('guest');
  const theirs = guest.console.page;
  faults.allow(/status of 400/);
  await theirs.route(`${system.issuer}/token`, (route) =>
    route.fulfill({
      status: 400,
      headers: { 'Access-Control-Allow-Origin': '*' },
      json: { error: 'invalid_grant' },
    }),
  );
  await theirs.goto(`${console.url}/console/join#ABC`);
  await enterAt(theirs, faults, guest.user);
  await expect(theirs.getByTestId('toast')).toBeVisible();
  expect(theirs.url()).toBe(`${console.url}/console/join#ABC`);
  await theirs.unroute(`${system.issuer}/token`);
  await theirs.getByRole('button', { name: 'Sign in' }).click();
  await theirs.getByRole('button', { name: 'Continue' }).click(); // the provider knows the guest
  await expect(theirs.getByRole('button', { name: 'Accept and open' })).toBeVisible();
});

const passing = provided(50); // less than the lifetime that the console requires

passing(
  'tokens are renewed, and the user signs in again when that fails',
  async ({ console, faults, page, system, user }) => {
    const renewals: string[] = [];
    page.on('request', (request) => {
      const asked = request.postData() ?? '';
      if (asked.includes('grant_type=refresh_token')) renewals.push(asked);
    });
    await console.open();
    await signInAt(page, faults, user);
    await console.ask('Hello');
    await expect(console.said('agent')).toContainText('You said: "Hello"');
    expect(renewals.length).toBeGreaterThan(0);
    expect(new Set(renewals).size, 'a refresh token is used once').toBe(renewals.length);

    faults.allow(/status of 400/);
    await page.route(`${system.issuer}/token`, (route) =>
      route.fulfill({
        status: 400,
        headers: { 'Access-Control-Allow-Origin': '*' },
        json: { error: 'invalid_grant' },
      }),
    );
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  },
);
