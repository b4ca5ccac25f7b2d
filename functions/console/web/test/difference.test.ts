import { expect, test } from 'vitest';
import { differences } from '../src/store/difference';

const told = (before: unknown, after: unknown) =>
  differences(before, after).map(({ path, ...rest }) => [path.join('.'), rest.before, rest.after]);

test('objects differ by their members, other values as a whole', () => {
  expect(told(5, 4)).toEqual([['', 5, 4]]);
  expect(told({ a: 1, b: { c: 1, d: 2 } }, { b: { c: 1, d: 3 }, e: null })).toEqual([
    ['a', 1, undefined],
    ['b.d', 2, 3],
    ['e', undefined, null],
  ]);
  expect(told([1, { a: 1 }], [1, { a: 1 }])).toEqual([]);
  expect(told({ l: [1, 2] }, { l: [2, 1] })).toEqual([['l', [1, 2], [2, 1]]]);
  expect(told({ a: 1 }, [1])).toEqual([['', { a: 1 }, [1]]]);
  expect(told(undefined, { a: 1 })).toEqual([['', undefined, { a: 1 }]]);
});
