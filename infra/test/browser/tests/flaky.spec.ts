// Tests that pass only when repeated are listed, and fail the run if they are many.

import { expect, test } from '@playwright/test';
import type { TestCase } from '@playwright/test/reporter';
import Flaky, { MOST_FLAKY } from '../support/flaky.ts';

/** Ends a run with tests of an outcome; returns its status, and what was printed. */
async function end(outcome: 'flaky' | 'expected', titles: string[]) {
  let printed = '';
  const reporter = new Flaky({
    print: (text) => {
      printed += text;
    },
  });
  const location = { file: 'a.spec.ts', line: 1, column: 1 };
  const tests = titles.map((title) => ({ title, location, outcome: () => outcome }) as TestCase);
  reporter.onBegin({ rootDir: '' }, { allTests: () => tests });
  return { ...(await reporter.onEnd()), printed };
}

const titles = (count: number) => Array.from({ length: count }, (_, i) => `test ${i}`);

test('as many as are allowed are listed', async () => {
  const { status, printed } = await end('flaky', titles(MOST_FLAKY));
  expect(status).toBeUndefined();
  for (const title of titles(MOST_FLAKY)) expect(printed).toContain(`a.spec.ts: ${title}`);
});

test('one more fails the run', async () => {
  expect((await end('flaky', titles(MOST_FLAKY + 1))).status).toBe('failed');
});

test('a test on several screens counts once', async () => {
  const { status, printed } = await end('flaky', Array(2 * MOST_FLAKY).fill('the same'));
  expect(status).toBeUndefined();
  expect(printed).toContain('1 passed only when repeated');
});

test('without any there is nothing to say', async () => {
  expect(await end('expected', titles(9))).toEqual({ printed: '' });
});
