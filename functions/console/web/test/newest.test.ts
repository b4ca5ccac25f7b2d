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
  test('short texts are counted as one line, and their buttons', () => {
    const short = rows(...Array.from({ length: 50 }, () => 'Hello'));
    expect(filling(short, 400)).toBe(5);
  });

  test('only the last message of a turn has buttons', () => {
    const answer = { author: 'agent', text: 'Hello' };
    const events = Array.from({ length: 50 }, () => event('turn', answer));
    const turns = turnsOf(new Messages().of(events), { status: 'idle', run: '', error: null });
    expect(filling(rowsOf(turns), 400)).toBe(9);
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
