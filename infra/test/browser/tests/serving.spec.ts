// How the page is served.

import { expect, test } from '../support/test.ts';

test('the root redirects to the console, which loads nothing from other origins', async ({
  page,
  url,
}) => {
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) elsewhere.push(request.url());
  });
  await page.goto(url);
  await expect(page).toHaveURL(`${url}/console`);
  await expect(page).toHaveTitle(/Rethread/);
  expect(elsewhere).toEqual([]);
});

test('its policy allows no scripts from a conversation', async ({ request, url }) => {
  const policy = (await request.get(`${url}/console`)).headers()['content-security-policy'];
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:`);
});

test('its settings have the watch address and the sign-in', async ({ request, url }) => {
  const config = await (await request.get(`${url}/console/config.json`)).json();
  expect(config.watch_url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
  expect(config.sign_in).toEqual({ kind: 'dev', token_url: '/dev/token' });
});
