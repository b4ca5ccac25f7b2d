import { describe, expect, test } from 'vitest';
import { firstMatch, piecesOf } from '../src/store/marks';
import type { PaletteEntry } from '../src/ui/palette/entry';
import { matching } from '../src/ui/palette/match';

const marked = (text: string, query: string): string =>
  piecesOf(text, query)
    .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
    .join('');

describe('the words of a search are marked', () => {
  test.each([
    ['A trip to Lisbon', 'lisbon', 'A trip to [Lisbon]'],
    ['A trip to Lisbon', 'lis trip', 'A [trip] to [Lis]bon'],
    ['Nothing in the middle', 'dle', 'Nothing in the middle'],
    ['Crème brûlée', 'creme BRULE', '[Crème] [brûlé]e'],
    ['e\u0301te\u0301', 'été', '[e\u0301te\u0301]'],
    ['今日は京都へ', '京都', '今日は[京都]へ'],
    ['ﬁne', 'fin', '[ﬁn]e'],
    ['İstanbul', 'istan', '[İstan]bul'],
    ['aaa a', 'a', '[a]aa [a]'],
    ['plain', '', 'plain'],
    ['', 'word', ''],
  ])('%s, for %s', (text, query, want) => {
    expect(marked(text, query)).toBe(want);
  });
});

test('an entry of the palette is found by any of its words', () => {
  const entry = (label: string, words = ''): PaletteEntry => ({
    id: label,
    label,
    words,
    icon: (() => null) as unknown as PaletteEntry['icon'],
    run: () => {},
  });
  const groups = [
    { title: 'Actions', entries: [entry('Dark theme', 'appearance'), entry('Sign out')] },
    { title: 'Chats', entries: [entry('Anything')], found: true },
  ];
  const titles = (query: string) =>
    matching(groups, query).map(({ title, entries }) => [title, ...entries.map((e) => e.label)]);
  expect(titles('theme DÁR')).toEqual([
    ['Actions', 'Dark theme'],
    ['Chats', 'Anything'],
  ]);
  expect(titles('appear')).toEqual([
    ['Actions', 'Dark theme'],
    ['Chats', 'Anything'],
  ]);
  expect(titles('zzz')).toEqual([['Chats', 'Anything']]);
});

test('the first of the words is where a text matches, if it has all of them', () => {
  expect(firstMatch('One two, three', 'thr two')).toBe(4);
  expect(firstMatch('One two, three', 'two four')).toBeNull();
  expect(firstMatch('Crème brûlée', 'brule')).toBe(6);
  expect(firstMatch('anyone', 'one')).toBeNull();
  expect(firstMatch('One', '?')).toBeNull();
});
