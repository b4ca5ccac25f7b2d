// Which entries have the words that were typed.

import type { PaletteEntry, PaletteGroup } from './entry';

/** The groups with the entries that contain each word of a text, in any order. */
export function matching(groups: readonly PaletteGroup[], query: string): PaletteGroup[] {
  const words = plain(query).split(/\s+/).filter(Boolean);
  const fits = ({ label, words: more = '' }: PaletteEntry) => {
    const text = plain(`${label} ${more}`);
    return words.every((word) => text.includes(word));
  };
  return groups
    .map((group) =>
      group.found ? group : { ...group, entries: group.entries.filter((entry) => fits(entry)) },
    )
    .filter(({ entries, notice }) => entries.length > 0 || notice);
}

// Without accents and case.
const plain = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase();
