import { describe, expect, test } from 'vitest';
import { familiesOf, pathTo, rowsOf } from '../src/store/families';
import { session } from './fakes';

const of = (id: string, source = '', time = 0) => ({
  ...session(id),
  updated_time: time,
  fork: source
    ? { session_id: source, rewind_before_invocation_id: null, boundary_found: true }
    : null,
});
const NONE = new Set<string>();

/** The rows as lines, indented by their level. */
const drawn = (list: ReturnType<typeof of>[], unfolded = NONE, open = '') => {
  const path = pathTo(open, list);
  return familiesOf(list)
    .flatMap((family) => rowsOf(family, unfolded, path))
    .map(({ session: { id }, level, forks }) => `${'-'.repeat(level)}${id}${forks || ''}`);
};

describe('families', () => {
  const list = [
    of('c', 'b', 9),
    of('x', 'gone', 8),
    of('a', '', 7),
    of('b', 'a', 6),
    of('d', 'a', 5),
  ];

  test('a family is where its newest member is, and has its time', () => {
    expect(drawn(list)).toEqual(['a2', 'x']);
    expect(familiesOf(list).map(({ time }) => time)).toEqual([9, 8]);
  });

  test('what is unfolded is shown below its source', () => {
    expect(drawn(list, new Set(['a']))).toEqual(['a2', '-b1', '-d', 'x']);
    expect(drawn(list, new Set(['a', 'b']))).toEqual(['a2', '-b1', '--c', '-d', 'x']);
    expect(drawn(list, new Set(['b']))).toEqual(['a2', 'x']);
  });

  test('the open session is shown with those above it alone, where it is folded', () => {
    expect(drawn(list, NONE, 'c')).toEqual(['a2', '-b1', '--c', 'x']);
    expect(drawn(list, NONE, 'd')).toEqual(['a2', '-d', 'x']);
  });

  test('rows know what is folded below them', () => {
    const [family] = familiesOf(list);
    if (!family) throw new Error('there is no family');
    const folded = (unfolded: string[], shown: string[]) =>
      rowsOf(family, new Set(unfolded), new Set(shown)).map((row) =>
        row.folded.map(({ id }) => id).sort(),
      );
    expect(folded([], [])).toEqual([['b', 'c', 'd']]);
    expect(folded([], ['b'])).toEqual([['d'], ['c']]);
    expect(folded(['a', 'b'], [])).toEqual([[], [], [], []]);
  });

  test('some begin a family of their own', () => {
    const families = familiesOf(list, ({ id }) => id === 'b');
    expect(families.map(({ session: { id } }) => id)).toEqual(['b', 'x', 'a']);
  });

  test('neither circles nor long lines of forks do harm', () => {
    expect(drawn([of('a', 'b'), of('b', 'a'), of('c', 'c')], new Set(['a', 'b']))).toEqual([
      'b1',
      '-a',
      'c',
    ]);
    const line = Array.from({ length: 3000 }, (_, i) => of(`${i}`, i > 0 ? `${i - 1}` : ''));
    const rows = drawn(line, NONE, '2999');
    expect(rows.length).toBe(3000);
    expect(rows.at(-1)).toBe(`${'-'.repeat(2999)}2999`);
  });
});
