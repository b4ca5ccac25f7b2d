// Opening a long session at a message far from its end.

import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../support/test.ts';

const TURNS = 2000;
// The session, its feedback, and the thread back to the message in pages of 1,000 items.
const MOST_REQUESTS = 5;

const turns = (count: number): [question: string, answer: string][] =>
  Array.from({ length: count }, (_, i) => [`Question ${i + 1}`, `Answer ${i + 1}. It goes on.`]);

test('a link to turn 700 of 2,000 opens with few requests, and can be scrolled both ways', async ({
  console,
  api,
  page,
}) => {
  test.setTimeout(180_000);
  const { id } = await api.createSession({ name: 'A long talk' });
  const invocations = await api.say(id, ...turns(TURNS));
  await console.signIn();
  const asked = requestsAbout(page, id);
  await console.open(`/s/${id}?at=${invocations[699]}`);
  const question = page.getByText('Question 700', { exact: true });
  await expect(question).toBeInViewport();
  await expect(page).not.toHaveURL(/at=/); // it was found, and is shown
  expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(MOST_REQUESTS);

  const thread = page.getByTestId('thread');
  for (const [by, text] of [
    [-1500, 'Question 69'],
    [3000, 'Question 70'],
  ] as const) {
    await thread.evaluate((element, top) => element.scrollBy(0, top), by);
    await expect.poll(() => inViewport(page.getByText(new RegExp(`^${text}\\d$`)))).toBe(true);
  }
  expect(asked.length, 'nothing more is read around it').toBeLessThanOrEqual(MOST_REQUESTS);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await expect(page.getByText(`Question ${TURNS}`, { exact: true })).toBeInViewport();
});

// Reports whether one of the elements can be seen: more are rendered above and below.
const inViewport = (all: Locator): Promise<boolean> =>
  all.evaluateAll((elements) =>
    elements.some((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= window.innerHeight;
    }),
  );

// Collects the requests about a session from now on.
function requestsAbout(page: Page, session: string): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.includes(`/api/v1/sessions/${session}`)) asked.push(`${pathname}${search}`);
  });
  return asked;
}
