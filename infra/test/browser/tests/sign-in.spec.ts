// Signing in and out.

import { signInAt, startProvided } from '../support/identity.ts';
import { expect, test } from '../support/test.ts';

test('a name is enough on this machine and is remembered', async ({ console, page, user }) => {
  await console.signIn();
  await page.reload();
  await expect(page.getByTestId('user')).toHaveText(user);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
});

test('the requested address is shown after signing in', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'A talk' });
  await api.say(id, ['What is this?', 'A session of long ago.']);
  await console.signIn(`/s/${id}`);
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
      { scope: 'worker', timeout: 120_000 },
    ],
    url: async ({ system }, use) => use(system.url),
  });
}

const lasting = provided(3600);

lasting(
  'the code flow with PKCE leads back to where one was',
  async ({ console, faults, page, user }) => {
    await console.open();
    await signInAt(page, faults, user);
    await console.ask('Hello');
    await expect(console.said('agent')).toContainText('You said: "Hello"');
    await page.reload();
    await expect(console.said('agent')).toContainText('You said: "Hello"');
  },
);

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
