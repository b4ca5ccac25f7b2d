import { describe, expect, test } from 'vitest';
import { nameOf } from '../src/store/app';
import { dayOf } from '../src/ui/kit/time';

describe('a session is named after its first question', () => {
  test.each([
    ['  Why\n is it?  ', 'Why is it?'],
    ['/research  the thread', 'the thread'],
    ['/help', '/help'],
    ['word '.repeat(30), /^(word ){11}word…$/],
    ['x'.repeat(100), /^x{60}…$/],
    ['👩‍👩‍👧'.repeat(40), /…$/],
  ])('%j', (question, name) => {
    expect(nameOf(question)).toEqual(typeof name === 'string' ? name : expect.stringMatching(name));
  });
});

test('days have headings such as Today', () => {
  const now = new Date(2026, 4, 20, 1, 0).getTime();
  const days = (n: number) => now - n * 86_400_000;
  expect([0, 1, 3, 20].map((n) => dayOf(days(n), now))).toEqual([
    'Today',
    'Yesterday',
    'This week',
    'This month',
  ]);
  expect(dayOf(days(100), now)).toMatch(/2026/);
});
