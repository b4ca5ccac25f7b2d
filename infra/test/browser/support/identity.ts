// Systems with sign-in by an identity provider.

import { expect, type Page } from '@playwright/test';
import type { Faults } from './faults.ts';
import { AUDIENCE, CLIENT, startIssuer } from './issuer.ts';
import { startSystem } from './system.ts';

/**
 * Starts a provider and a system that trusts it.
 * @param tokenLife lifetime of access tokens in seconds
 */
export async function startProvided(tokenLife: number) {
  const issuer = await startIssuer(tokenLife);
  const system = await startSystem(`oidc-${tokenLife}`, {
    JWT_ISSUER: issuer.url,
    JWT_AUDIENCE: AUDIENCE,
    CONSOLE_CLIENT_ID: CLIENT,
    CONSOLE_SCOPE: 'openid profile',
  });
  const stop = async () => {
    await system.stop();
    await issuer.stop();
  };
  return { url: system.url, issuer: issuer.url, stop };
}

/** Signs in on the provider's pages, from the console's sign-in back to the console. */
export async function signInAt(page: Page, faults: Faults, user: string): Promise<void> {
  await enterAt(page, faults, user);
  await expect(page.getByTestId('user')).toHaveText(`${user} by name`);
}

/** Goes through the provider's pages, until they lead back to the console. */
export async function enterAt(page: Page, faults: Faults, user: string): Promise<void> {
  // The provider's own page has no icon and requests a remote font.
  faults.allow(/\/favicon\.ico\)$/);
  await page.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ body: '' }));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByPlaceholder('Enter any login').fill(user);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}
