// Where the words of a search are in an excerpt, by the server's rule: at the beginning of a word,
// and in scripts without spaces anywhere; accents and case do not matter.

export interface Piece {
  text: string;
  marked: boolean;
}

const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const IN_WORD = /[\p{L}\p{N}\p{M}]/u;

/** An excerpt in pieces, of which those with the words of a search are marked. */
export function piecesOf(text: string, query: string): Piece[] {
  const words = wordsOf(query);
  const { letters, plains } = split(text);
  const marked = letters.map(() => false);
  for (const word of words) mark(marked, plains, word);
  const pieces: Piece[] = [];
  letters.forEach((letter, i) => {
    const last = pieces.at(-1);
    if (last && last.marked === marked[i]) last.text += letter;
    else pieces.push({ text: letter, marked: marked[i] === true });
  });
  return pieces;
}

/** Where the first of the words is that are searched for; null if one of them is missing. */
export function firstMatch(text: string, query: string): number | null {
  const words = wordsOf(query);
  const { letters, plains } = split(text);
  const firsts = words.map((word) => {
    const marked = letters.map(() => false);
    mark(marked, plains, word);
    return marked.indexOf(true);
  });
  if (firsts.length === 0 || firsts.includes(-1)) return null;
  return letters.slice(0, Math.min(...firsts)).join('').length;
}

const wordsOf = (query: string): string[] => plain(query).match(WORDS) ?? [];

function mark(marked: boolean[], plains: readonly string[], word: string): void {
  const anywhere = WITHOUT_SPACES.test(word);
  plains.forEach((_, from) => {
    if (!anywhere && from > 0 && IN_WORD.test(plains[from - 1] ?? '')) return;
    let rest = word;
    let to = from;
    while (rest !== '' && to < plains.length) {
      const letter = plains[to] ?? '';
      if (letter === '' || !(rest.startsWith(letter) || letter.startsWith(rest))) break;
      rest = rest.slice(letter.length);
      to++;
    }
    if (rest === '') marked.fill(true, from, to);
  });
}

// The letters of a text with their marks, and each without them, in lower case.
function split(text: string): { letters: string[]; plains: string[] } {
  const letters = text.match(/\P{M}\p{M}*|\p{M}+/gsu) ?? [];
  return { letters, plains: letters.map(plain) };
}

const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
