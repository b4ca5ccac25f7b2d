import { describe, expect, test } from 'vitest';
import { dayIn, secondsOf } from '../src/store/life';

const NOON = new Date(2026, 10, 25, 12).getTime();

describe('how long a share lasts', () => {
  test('is a number of seconds, or has no end', () => {
    expect(secondsOf('never', '')).toBeNull();
    expect([secondsOf('hour', ''), secondsOf('week', '')]).toEqual([3600, 604_800]);
  });

  test('includes the last day, in the time of the place', () => {
    expect(secondsOf('date', '2026-11-25', NOON)).toBe(12 * 3600);
    const end = new Date(2026, 11, 2).getTime();
    expect(secondsOf('date', '2026-12-01', NOON)).toBe((end - NOON) / 1000);
  });

  test('can end neither in the past nor after ten years', () => {
    for (const date of ['2026-11-24', '2036-12-31', '']) {
      expect(() => secondsOf('date', date, NOON)).toThrow(RangeError);
    }
  });
});

test('dayIn gives the day as a date field has it', () => {
  expect(dayIn(NOON)).toBe('2026-11-25');
  expect(dayIn(new Date(2027, 0, 3).getTime())).toBe('2027-01-03');
});
