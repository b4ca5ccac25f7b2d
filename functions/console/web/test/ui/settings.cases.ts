// The settings: the way there, the theme, and what is used of the quotas.

import { expect, screen, test, vi, waitFor, within } from './page';
import type { World } from './world';

const usage = (api: World) => {
  const none = { used: 0, limit: null };
  api.on('GET /me/usage', () => [
    200,
    {
      data: {
        sessions: { used: api.sessions.size, limit: null },
        runs: { used: 0, limit: 100 },
        bytes: none,
        streams: none,
      },
    },
  ]);
};

const quota = (name: string) => screen.getByRole('heading', { name }).closest('li');

for (const narrow of [false, true]) {
  test(`the settings have an address, a title and a way back, ${narrow ? 'narrow' : 'wide'}`, async ({
    api,
    page,
  }) => {
    usage(api);
    page.open('/settings/usage', { narrow, signedIn: false });
    await page.fill(/^Your name/, 'alice');
    await page.click('button', 'Sign in');
    expect(await screen.findByRole('heading', { name: 'Usage' })).toBeVisible();
    await waitFor(() => expect(document.title).toBe('Usage · Settings · Rethread'));

    page.open('/', { narrow });
    if (narrow) await page.click('button', 'Chats');
    await page.click('link', 'Settings');
    expect(await screen.findByRole('heading', { name: 'Appearance' })).toBeVisible();
    await waitFor(() =>
      expect(screen.queryByRole('link', { name: 'New chat' })).toEqual(
        narrow ? null : expect.anything(),
      ),
    );
    const sections = screen.getByRole('navigation', { name: 'Settings' });
    expect(within(sections).getByRole('link', { current: 'page' })).toHaveTextContent('Appearance');
    await page.user.click(within(sections).getByRole('link', { name: 'Usage' }));
    expect(page.path).toBe('/settings/usage');
    await waitFor(() =>
      expect(within(sections).getByRole('link', { current: 'page' })).toHaveTextContent('Usage'),
    );
    history.back();
    expect(await screen.findByRole('heading', { name: 'Appearance' })).toBeVisible();
    page.open('/settings/none', { narrow });
    await waitFor(() => expect(page.path).toBe('/settings/appearance'));
  });
}

test('quotas are shown with their limits', async ({ api, page }) => {
  usage(api);
  api.createSession();
  api.createSession();
  page.open('/settings/usage');
  await screen.findByRole('heading', { name: 'Chats' });
  expect(quota('Chats')).toHaveTextContent('2, no limit');
  expect(quota('Answers in progress')).toHaveTextContent('0 of 100');
  expect(screen.getByRole('meter', { name: 'Answers in progress' })).toHaveAttribute('max', '100');
  expect(quota('Storage')).toHaveTextContent('no limit');
  api.createSession();
  await page.click('button', 'Refresh');
  await waitFor(() => expect(quota('Chats')).toHaveTextContent('3, no limit'));
});

test('a lost connection is said, and the section is read again when it is back', async ({
  api,
  page,
}) => {
  usage(api);
  page.open('/settings/usage');
  await screen.findByRole('heading', { name: 'Chats' });
  let lost = true;
  api.on('GET /me/usage', (_, next) => {
    if (lost) throw new TypeError('Failed to fetch');
    return next();
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  await page.click('button', 'Refresh');
  await vi.advanceTimersByTimeAsync(70_000); // what is safe is tried again for a minute
  vi.useRealTimers();
  expect(await screen.findByRole('alert')).toHaveTextContent('The server cannot be reached.');
  expect(quota('Chats')).toHaveTextContent('0, no limit');
  api.createSession();
  lost = false;
  dispatchEvent(new Event('online'));
  await waitFor(() => expect(quota('Chats')).toHaveTextContent('1, no limit'));
  expect(screen.queryByRole('alert')).toBeNull();
});

test('the theme is chosen for this browser', async ({ page }) => {
  page.open('/settings/appearance');
  expect(await screen.findByRole('radio', { name: /^Like the system/ })).toBeChecked();
  await page.click('radio', 'Dark');
  expect(document.documentElement).toHaveAttribute('data-theme', 'dark');
  page.reload();
  expect(await screen.findByRole('radio', { name: 'Dark' })).toBeChecked();
  await page.click('radio', /^Like the system/);
  expect(document.documentElement).not.toHaveAttribute('data-theme');
});
