// Opening a long session, at its end and at a message far from it.

import { randomUUID } from 'node:crypto';
import type { Locator, Page } from '@playwright/test';
import { Api } from '../support/api.ts';
import { test as base, expect } from '../support/test.ts';

const TURNS = 2000;
const LONG = 'A long talk';
const SHORT = 'A short talk';
// The session, its feedback, and the thread back to the message in pages of 1,000 items.
const MOST_REQUESTS = 5;

const turns = (count: number): [question: string, answer: string][] =>
  Array.from({ length: count }, (_, i) => [`Question ${i + 1}`, `Answer ${i + 1}. It goes on.`]);

interface Long {
  user: string;
  id: string;
  invocations: string[];
}

const test = base.extend<object, { long: Long }>({
  long: [
    async ({}, use) => {
      const api = new Api(process.env.RETHREAD_URL ?? '', `reader-${randomUUID().slice(0, 8)}`);
      const { id } = await api.createSession({ name: LONG });
      const invocations = await api.say(id, ...turns(TURNS));
      await use({ user: api.user, id, invocations });
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  user: async ({ long }, use) => use(long.user),
});
test.describe.configure({ mode: 'default' }); // one worker, and so one long chat

test('a link to turn 700 of 2,000 opens with few requests, and can be scrolled both ways', async ({
  console,
  long: { id, invocations },
  page,
}) => {
  await console.signIn();
  const asked = requestsAbout(page, id);
  await console.open(`/s/${id}?at=${invocations[699]}`);
  const question = page.getByText('Question 700', { exact: true });
  await expect(question).toBeInViewport();
  await expect(page).not.toHaveURL(/at=/); // it was found, and is shown
  expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(MOST_REQUESTS);

  const thread = page.getByTestId('thread');
  for (const [by, text] of [
    [-400, 'Question 68'],
    [400, 'Question 71'],
  ] as const) {
    await expect(async () => {
      await thread.evaluate((element, top) => element.scrollBy(0, top), by);
      expect(await inViewport(page.getByText(new RegExp(`^${text}\\d$`)))).toBe(true);
    }).toPass({ intervals: [100] });
  }
  expect(asked.length, 'nothing more is read around it').toBeLessThanOrEqual(MOST_REQUESTS);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await expect(page.getByText(`Question ${TURNS}`, { exact: true })).toBeInViewport();
});

for (const count of [12, TURNS]) {
  test(`a chat of ${count} turns shows its end as soon as it shows anything`, async ({
    console,
    api,
    page,
  }) => {
    const name = count === TURNS ? LONG : SHORT;
    if (name === SHORT) {
      const { id } = await api.createSession({ name });
      await api.say(id, ...turns(count));
    }
    await console.signIn();
    const frames = await watchEnd(page);
    await page.getByRole('link', { name }).click();
    await expect(page.getByText(`Question ${count}`, { exact: true })).toBeInViewport();
    const height = () => page.getByTestId('thread').evaluate((thread) => thread.scrollHeight);
    await expect.poll(height, 'all that is loaded is there').toBeGreaterThan(1500);
    const { shown, elsewhere } = await frames();
    expect(shown, 'frames with messages').toBeGreaterThan(0);
    expect(elsewhere, 'frames that show another part').toBe(0);
  });
}

interface Frames {
  /** Frames in which a message was to be seen. */
  shown: number;
  /** Those in which the newest was not. */
  elsewhere: number;
}

// Counts the frames that the browser has drawn from now on. The returned function ends this.
async function watchEnd(page: Page): Promise<() => Promise<Frames>> {
  const watch = await page.evaluateHandle(() => {
    const frames = { shown: 0, elsewhere: 0 };
    const drawn = new MessageChannel(); // its messages arrive after the frame
    let next = 0;
    drawn.port1.onmessage = () => {
      // Rows that are not measured yet are in the document, but hidden
      const messages = [...document.querySelectorAll('[data-testid=message]')].filter((element) =>
        element.checkVisibility({ visibilityProperty: true }),
      );
      const newest = messages.at(-1)?.getBoundingClientRect();
      if (newest) frames.shown++;
      if (newest && (newest.bottom > innerHeight || newest.bottom < 0)) frames.elsewhere++;
      next = requestAnimationFrame(() => drawn.port2.postMessage(null));
    };
    drawn.port2.postMessage(null);
    const end = () => {
      cancelAnimationFrame(next);
      drawn.port1.close();
      return frames;
    };
    return { end };
  });
  return () => watch.evaluate(({ end }) => end());
}

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
