import { beforeAll, describe, expect, test, vi } from 'vitest';
import { GrowingMarkdown } from '../src/ui/markdown/growing';
import { blocksOf, extendFor, type MarkdownBlock } from '../src/ui/markdown/parse';

// The machine may be busy, and time is not what is tested.
vi.setConfig({ testTimeout: 60_000 });

// Without sanitising, which depends on the markup alone, and takes most of the time here.
const shown = (blocks: MarkdownBlock[]) =>
  blocks.map(({ kind, source, code, markup }) => [kind, source, code ?? markup()]);

// Pieces of Markdown, some of which change the meaning of the text before them.
const PIECES = [
  'Some *text* with `code`, ',
  'and **more of it** ',
  '\n',
  '\n\n',
  '---',
  '===',
  '# Heading',
  '- item\n',
  '  - inner\n',
  '1. one\n',
  '> quote',
  '```go\n',
  'func main() {}\n',
  '```\n',
  '    indented\n',
  '| a | b |\n',
  '|---|---|\n',
  '<b>raw</b>',
  '<div>\n',
  '</div>\n',
  '* * *',
  '\r\n',
  'wörd 𝄞 ',
  'for $5 and $10 ',
  '$a_1$',
  '$$\n',
  '$$',
  '\\[\n',
  '\\]\n',
  '\\(x^2\\)',
  '+ y\n',
  '[x]: https://example.com\n',
  '[x]',
  '[^1]: A note ',
  '[^1]',
];
const DEFINING = 4; // pieces at the end, whose meaning may depend on later ones

// A deterministic sequence of pseudo-random numbers.
function* numbers(seed: number): Generator<number, never> {
  for (let x = seed * 2654435761; ; ) {
    x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
    x = Math.imul(x ^ (x >>> 12), 0x297a2d39) ^ seed++;
    yield (x ^ (x >>> 15)) >>> 0;
  }
}

beforeAll(() => extendFor('$x$'));

describe('growing Markdown', () => {
  test('ends with the same result as when parsed at once', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = numbers(seed);
      const growing = new GrowingMarkdown();
      let text = '';
      for (let n = random.next().value % 25; n > 0; n--) {
        const piece = PIECES[random.next().value % PIECES.length] ?? '';
        const cut = random.next().value % (piece.length + 1);
        growing.grow(text + piece.slice(0, cut));
        text += piece;
        growing.grow(text);
      }
      const whole = text.replace(/\r\n?/g, '\n');
      expect(shown(growing.finish(text)), text).toEqual(shown(blocksOf(whole).blocks));
    }
  });

  test('equals parsing at once at each step, except for links and notes not defined yet', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = numbers(seed);
      const growing = new GrowingMarkdown();
      let text = '';
      for (let n = 0; n < 12; n++) {
        const piece = PIECES[random.next().value % (PIECES.length - DEFINING)];
        text += piece;
        const whole = text.replace(/\r\n?/g, '\n');
        expect(shown(growing.grow(text)), text).toEqual(shown(blocksOf(whole).blocks));
      }
    }
  });

  test('parses only the last blocks and keeps the other objects', () => {
    const growing = new GrowingMarkdown();
    const before = growing.grow('# One\n\nTwo\n\nThree');
    const after = growing.grow('# One\n\nTwo\n\nThree and four');
    expect(shown(after).slice(0, 2)).toEqual(shown(before).slice(0, 2));
    expect(after[0]).toBe(growing.grow('# One\n\nTwo\n\nThree and four.')[0]);
    expect(growing.open).toBe('Two\n\nThree and four.'.length);
  });

  test('splits a long paragraph until it is complete', () => {
    const growing = new GrowingMarkdown();
    let text = '# A title\n\n';
    let longest = 0;
    for (let n = 0; n < 20_000; n++) {
      text += n % 50 === 0 ? `**word${n}** ` : `word${n} `;
      if (n % 100 > 0) continue;
      growing.grow(text);
      longest = Math.max(longest, growing.open);
    }
    expect(longest).toBeLessThan(10_000);
    const drawn = growing.grow(text);
    const joined = drawn.map((block) => block.source).join('');
    expect(joined.replace(/\s/g, '') === text.replace(/\s/g, '')).toBe(true);
    expect(drawn.filter(({ kind }) => kind === 'paragraph part').length).toBeGreaterThan(10);
    const whole = shown(growing.finish(text));
    expect(JSON.stringify(whole) === JSON.stringify(shown(blocksOf(text).blocks))).toBe(true);
  });

  test('starts again for another text', () => {
    const growing = new GrowingMarkdown();
    growing.grow('# One\n\nTwo');
    expect(shown(growing.grow('Three'))).toEqual(shown(blocksOf('Three').blocks));
  });
});
