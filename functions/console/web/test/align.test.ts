import { expect, test } from 'vitest';
import { align, similarity } from '../src/store/compare/align';
import { wordsOf } from '../src/store/compare/words';
import { numbers } from './numbers';

const byWords = (a: string, b: string) => 0.2 + similarity(a, b);

test.each([
  ['nothing', [], [], []],
  ['other questions, in order', ['a', 'b'], ['x', 'y'], ['a:x', 'b:y']],
  ['one more in the middle', ['a', 'b'], ['a', 'x y', 'b'], ['a:a', ':x y', 'b:b']],
  ['one more at the end', ['a'], ['a', 'b'], ['a:a', ':b']],
  [
    'the most similar',
    ['where is the hotel', 'bye'],
    ['hello', 'where was that hotel', 'bye'],
    [':hello', 'where is the hotel:where was that hotel', 'bye:bye'],
  ],
])('%s', (_, left, right, want) => {
  const pairs = align<string>(left, right, byWords);
  expect(pairs.map(([a, b]) => `${a ?? ''}:${b ?? ''}`)).toEqual(want);
});

test('each entry stands once, in its order, and never beside one that does not fit', () => {
  const draw = numbers(7);
  const list = () => Array.from({ length: draw(7) }, () => draw(4));
  let cases = 0;
  for (; cases < 500; cases++) {
    const [left, right] = [list(), list()];
    const pairs = align(left, right, (a, b) => (a === b ? 1 : 0));
    expect(pairs.flatMap(([a]) => a ?? [])).toEqual(left);
    expect(pairs.flatMap(([, b]) => b ?? [])).toEqual(right);
    const together = pairs.filter(([a, b]) => a !== null && b !== null);
    expect(together.every(([a, b]) => a === b)).toBe(true);
    expect(together.length).toBe(longestCommon(left, right));
  }
  expect(cases).toBe(500);
});

function longestCommon(a: readonly number[], b: readonly number[]): number {
  const [x, ...rest] = a;
  if (x === undefined || b.length === 0) return 0;
  const at = b.indexOf(x);
  const without = longestCommon(rest, b);
  return at < 0 ? without : Math.max(without, 1 + longestCommon(rest, b.slice(at + 1)));
}

test('long lists are paired by their order', () => {
  const long = Array.from({ length: 300 }, (_, i) => i);
  const pairs = align(long, [1, ...long], () => 1);
  expect(pairs.length).toBe(301);
  expect(pairs[0]).toEqual([0, 1]);
});

test.each([
  ['', '', 1],
  ['a b', 'A, b!', 1],
  ['a b', 'c d', 0],
  ['a a b', 'a c', 0.4],
  ['Wo ist die Straße', 'Wo war die Straße', 0.75],
])('similarity of %j and %j', (a, b, want) => {
  expect(similarity(a, b)).toBeCloseTo(want);
});

test('the pieces of two texts make both of them', () => {
  const [a, b] = ['To Lisbon,\n by train.', 'To Porto,\n  by train today.'];
  const pieces = wordsOf(a, b);
  const side = (one: 'left' | 'right') =>
    pieces.flatMap((p) => (p.in === 'both' || p.in === one ? p.text : [])).join('');
  expect([side('left'), side('right')]).toEqual([a, b]);
  expect(pieces.filter((p) => p.in === 'left').map(({ text }) => text)).toContain('Lisbon');
  const other = (seed: number) => {
    const draw = numbers(seed);
    return Array.from({ length: 5000 }, () => draw(1e6).toString(36)).join(' ');
  };
  expect(wordsOf(other(1), other(2)).map((p) => p.in)).toEqual(['left', 'right']);
});
