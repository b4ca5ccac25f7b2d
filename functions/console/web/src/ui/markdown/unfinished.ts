// The end of a growing Markdown text as it will probably be: what is only begun shows neither its marks
// nor a cut address. Emphasis and code are closed, and an unfinished link is its text.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const STARTS = /^[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})?[ \t]+(?=\S)|^[ \t]*>/; // a line that starts a block
// A last line that may become a bullet, a number, a heading, a rule, a quotation or a fence.
const BEGUN = /(^|\n)[ \t]*(?:[-*+=_#>`~]+|\d{1,9}[.)]?)[ \t]*$/;
const ROWS = /(?:^|\n)((?:\|[^\n]*(?:\n|$))+)$/;
const ADDRESS = /(?:https?:\/\/|www\.)[^\s<]*$/i;
const WORD = /[\p{L}\p{N}]/u;

/** @param text the part of a growing text that may still change */
export function unfinished(text: string): string {
  const fence = openFence(text);
  if (fence) return withoutMark(text, fence);
  const closed = openFence(text.slice(0, Math.max(0, text.lastIndexOf('\n')))) !== '';
  if (closed || /\n[ \t]*\n[ \t]*$/.test(text)) return text;
  const kept = withoutHead(text.replace(BEGUN, '$1')).trimEnd();
  const from = lastInline(kept);
  return kept.slice(0, from) + inline(kept.slice(from));
}

function openFence(text: string): string {
  let open = '';
  for (const line of text.split('\n')) {
    const [, mark = ''] = FENCE.exec(line) ?? [];
    if (open === '') open = mark;
    else if (mark.startsWith(open) && line.trim() === mark) open = '';
  }
  return open;
}

// A fence at the end of the text may still get its language, and one that closes may become longer.
function withoutMark(text: string, fence: string): string {
  const start = text.lastIndexOf('\n') + 1;
  const last = text.slice(start).trim();
  const opens = last.startsWith(fence);
  const closes = last !== '' && fence.startsWith(last);
  return opens || closes ? text.slice(0, start) : text;
}

// The head of a table appears with the line below it, which makes it one.
function withoutHead(text: string): string {
  const rows = ROWS.exec(text)?.[1] ?? '';
  return rows.split('\n').length < 3 ? text.slice(0, text.length - rows.length) : text;
}

// Where the paragraph, heading or item begins in which marks belong together.
function lastInline(text: string): number {
  for (let end = text.length; end > 0; ) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(start, end);
    if (line.trim() === '' || FENCE.test(line)) return Math.min(end + 1, text.length);
    const mark = STARTS.exec(line);
    if (mark || line.startsWith('|')) return start + (mark?.[0].length ?? 0);
    end = start - 1;
  }
  return 0;
}

interface Delimiter {
  char: string;
  count: number;
}

function inline(given: string): string {
  const text = given.replace(/[*_~`\\]+$|(?<=\s)!$/, ''); // perhaps not the whole mark yet
  const open: Delimiter[] = [];
  const brackets: number[] = [];
  for (let at = 0; at < text.length; ) {
    const char = text[at] ?? '';
    const run = /^(.)\1*/.exec(text.slice(at))?.[0].length ?? 1;
    if (char === '\\') at += 2;
    else if (char === '$') at = afterFormula(text, at);
    else if (char === '`') {
      const end = endOfCode(text, at + run, run);
      if (end < 0) return closed(text, [...open, { char, count: run }]);
      at = end;
    } else if ('*_~'.includes(char)) {
      delimit(open, text, at, run);
      at += run;
    } else {
      if (char === '[') brackets.push(at);
      const from = char === ']' ? brackets.pop() : undefined;
      const rest = text.slice(at + 1);
      if (from !== undefined && /^$|^\([^)\n]*$/.test(rest))
        return inline(unlinked(text, from, at));
      at += 1 + (from === undefined ? 0 : (/^\([^)\n]*\)/.exec(rest)?.[0].length ?? 0));
    }
  }
  const from = brackets.at(-1);
  if (from !== undefined) return inline(unlinked(text, from, text.length));
  return closed(withoutAddress(text), open);
}

// A link or picture as its text; nothing for a footnote.
function unlinked(text: string, from: number, to: number): string {
  const inner = text.slice(from + 1, to);
  return text.slice(0, from).replace(/!$/, '') + (inner.startsWith('^') ? '' : inner);
}

// An address that is still being written is a text, whose escaped character keeps it from being a link.
const withoutAddress = (text: string): string =>
  text
    .replace(/<(?=https?:[^\s>]*$)/i, '')
    .replace(ADDRESS, (address) => address.replace(/^https?|^www/i, '$&\\'));

function afterFormula(text: string, at: number): number {
  const end = /^\$\$?[^$\n]+\$\$?/.exec(text.slice(at))?.[0].length ?? 1;
  return at + end;
}

function endOfCode(text: string, from: number, run: number): number {
  for (const found of text.slice(from).matchAll(/`+/g)) {
    if (found[0].length === run) return from + found.index + run;
  }
  return -1;
}

// As CommonMark says, except that a single mark within a word begins nothing.
function delimit(open: Delimiter[], text: string, at: number, run: number): void {
  const char = text[at] ?? '';
  const [before, after] = [text[at - 1] ?? ' ', text[at + run] ?? ' '];
  let count = run;
  if (char === '~' && run !== 2) return;
  if (!/\s/.test(before) && (char !== '_' || !WORD.test(after))) {
    for (let i = last(open, char); count > 0 && i >= 0; i = last(open, char)) {
      const opener = open[i] as Delimiter;
      const used = Math.min(count, opener.count);
      opener.count -= used;
      count -= used;
      open.length = opener.count > 0 ? i + 1 : i;
    }
  }
  const within = WORD.test(before) && (char === '_' || count === 1);
  if (count > 0 && !/\s/.test(after) && !within) open.push({ char, count });
}

const last = (open: readonly Delimiter[], char: string): number =>
  open.findLastIndex((delimiter) => delimiter.char === char);

function closed(text: string, open: readonly Delimiter[]): string {
  const marks = open.map(({ char, count }) => char.repeat(count)).reverse();
  return text.trimEnd() + marks.join('');
}
