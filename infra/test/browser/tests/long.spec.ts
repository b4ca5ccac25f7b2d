// Long sessions.

import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../support/test.ts';

const TURNS = 1000;

test('few of 2,000 events are rendered, and the oldest can be reached', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'A long talk' });
  await api.say(id, ...unevenTurns(TURNS));
  const pages = threadPages(page);
  await console.signIn(`/s/${id}`);
  await expect(page.getByText(`Question ${TURNS}`, { exact: true })).toBeVisible();
  const messages = page.getByTestId('message');
  expect(await messages.count()).toBeLessThan(60);
  expect(pages, 'what is read to show the end').toEqual(['order=desc&limit=100']);

  const thread = page.getByTestId('thread');
  const first = page.getByText('Question 1', { exact: true });
  await thread.press('Home');
  await expect(first).toBeInViewport();
  expect(await messages.count()).toBeLessThan(60);
  const sizes = [100, 100, 200, 400, 800, 1000];
  expect(pages, 'pages that grow').toEqual(sizes.map((size) => `order=desc&limit=${size}`));

  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await expect(page.getByText(`Question ${TURNS}`, { exact: true })).toBeInViewport();
  await console.ask('Still there?');
  await expect(console.said('agent').last()).toContainText('You said: "Still there?"');
  await expect(console.said('agent').last()).toBeInViewport();
});

for (const reducedMotion of ['reduce', 'no-preference'] as const) {
  test.describe(`motion: ${reducedMotion}`, () => {
    test.use({ contextOptions: { reducedMotion } });

    test('loading messages does not move the visible text', async ({ console, api, page }) => {
      const { id } = await api.createSession({ name: 'Rather long' });
      await api.say(id, ...unevenTurns(120));
      const pages = threadPages(page);
      await console.signIn(`/s/${id}`);
      await expect(page.getByText('Question 120', { exact: true })).toBeInViewport();
      let answer = () => {};
      const asked = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route(/thread\?.*cursor=/, async (route) => {
        await asked;
        await route.continue();
      });

      const thread = page.getByTestId('thread');
      const toTop = () =>
        thread.evaluate((element) => {
          const was = element.scrollTop; // rows measured while scrolling up may move it down again
          element.scrollTop = 0;
          return was;
        });
      await expect.poll(toTop).toBe(0);
      await expect(page.getByText('Loading earlier messages…')).toBeVisible();
      const moved = await watchPlace(page.getByText('Question 71', { exact: true }));
      answer();
      await expect(page.getByText('Answer 70.')).toBeVisible();
      expect(pages).toHaveLength(2);
      expect(await moved(), 'pixels in any frame').toBeLessThan(2);
    });
  });
}

test('a message can be clicked while scrolling', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Rather long' });
  await api.say(id, ...unevenTurns(30));
  await console.signIn(`/s/${id}`);
  await expect(page.getByText('Question 30', { exact: true })).toBeInViewport();
  const missed = await page.getByTestId('thread').evaluate(async (thread) => {
    const { x, y, width, height } = thread.getBoundingClientRect();
    let count = 0;
    for (let frame = 0; frame < 30; frame++) {
      thread.scrollBy(0, -10);
      await new Promise(requestAnimationFrame);
      const aimed = document.elementFromPoint(x + width / 2, y + height / 2);
      if (!aimed?.closest('[data-testid=message]')) count++;
    }
    return count;
  });
  expect(missed, 'frames in which no message is under the pointer').toBe(0);
});

test('loading earlier messages can be retried after a failure', async ({
  console,
  api,
  faults,
  page,
}) => {
  faults.allow(/ERR_FAILED/);
  const { id } = await api.createSession({ name: 'Rather long' });
  const turns = Array.from({ length: 80 }, (_, i): [string, string] => [
    `Question ${i + 1}`,
    `Answer ${i + 1}`,
  ]);
  await api.say(id, ...turns);
  await console.signIn(`/s/${id}`);
  await expect(page.getByText('Question 80', { exact: true })).toBeVisible();
  await page.route(/thread\?.*cursor=/, (route) => route.abort());
  const alert = page.getByRole('alert');
  await expect(async () => {
    await page.getByTestId('thread').press('Home'); // rows that are measured meanwhile end a scroll
    await expect(alert).toContainText('Earlier messages could not be loaded.', { timeout: 1000 });
  }).toPass();
  await page.unroute(/thread\?.*cursor=/);
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(alert).toHaveCount(0);
  const first = page.getByText('Question 1', { exact: true });
  await expect(async () => {
    await page.getByTestId('thread').press('Home');
    await expect(first).toBeInViewport({ timeout: 1000 });
  }).toPass();
});

test('a rewind to before the loaded messages shows the remaining ones', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'Rather long' });
  const turns = Array.from({ length: 150 }, (_, i): [string, string] => [
    `Question ${i + 1}`,
    `Answer ${i + 1}`,
  ]);
  const invocations = await api.say(id, ...turns);
  await console.signIn(`/s/${id}`);
  await expect(page.getByText('Question 150', { exact: true })).toBeVisible();
  await api.rewind(id, invocations[70] ?? '');
  await expect(page.getByText('Question 70', { exact: true })).toBeInViewport();
  await expect(page.getByText('Question 71', { exact: true })).toHaveCount(0);

  await page.getByRole('button', { name: 'Show rewound history' }).click();
  const history = page.getByTestId('history');
  const first = history.getByText('Question 1', { exact: true });
  await expect(async () => {
    await history.press('Home');
    await expect(first).toBeInViewport({ timeout: 1000 });
  }).toPass();
  await expect(history.getByTestId('rewound')).toHaveCount(0);
});

// Questions, numbered from 1, with answers of various lengths.
function unevenTurns(count: number): [question: string, answer: string][] {
  return Array.from({ length: count }, (_, i) => [
    `Question ${i + 1}`,
    `Answer ${i + 1}. ${'It goes on. '.repeat((i * 7) % 40)}`,
  ]);
}

// Collects the queries for pages of a thread from now on, without cursors.
function threadPages(page: Page): string[] {
  const pages: string[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (!pathname.endsWith('/thread')) return;
    searchParams.delete('cursor');
    pages.push(searchParams.toString());
  });
  return pages;
}

// Tracks the position of an element in every frame from now on. The returned function ends this and
// returns the largest distance from the current position, in pixels.
async function watchPlace(locator: Locator): Promise<() => Promise<number>> {
  const watch = await locator.evaluateHandle((element) => {
    const place = () => element.getBoundingClientRect().y;
    const before = place();
    let most = 0;
    let frame = 0;
    const look = () => {
      most = element.isConnected ? Math.max(most, Math.abs(place() - before)) : Infinity;
      frame = requestAnimationFrame(look);
    };
    look();
    return {
      end: () =>
        new Promise<number>((resolve) => {
          requestAnimationFrame(() => {
            cancelAnimationFrame(frame);
            resolve(most);
          });
        }),
    };
  });
  return () => watch.evaluate(({ end }) => end());
}
