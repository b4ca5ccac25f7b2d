// The address of the search of what was said.

export const SEARCH = '/search';

export function searchPath(words: string): string {
  return words ? `${SEARCH}?${new URLSearchParams({ q: words })}` : SEARCH;
}
