import { describe, expect, test } from 'vitest';
import { Messages } from '../src/store/message';
import { rowsOf, turnsOf } from '../src/store/turns';
import { filling } from '../src/ui/chat/newest';
import { event } from './fakes';

const rows = (...texts: string[]) => {
  const messages = new Messages().of(texts.map((text, i) => event(`turn-${i}`, { text })));
  return rowsOf(turnsOf(messages, { status: 'idle', run: '', error: null }));
};

describe('the newest rows that fill a height', () => {
  test('short texts are counted as one line', () => {
    const short = rows(...Array.from({ length: 50 }, () => 'Hello'));
    expect(filling(short, 400)).toBe(10);
  });

  test('long texts take more, so fewer rows are needed', () => {
    const long = rows('short', 'x'.repeat(1600), 'x'.repeat(1600));
    expect(filling(long, 400)).toBe(2);
  });

  test('there are never more than all', () => {
    expect(filling(rows('a', 'b'), 10_000)).toBe(2);
    expect(filling([], 800)).toBe(0);
  });
});
