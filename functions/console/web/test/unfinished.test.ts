import { beforeAll, describe, expect, test } from 'vitest';
import { GrowingMarkdown } from '../src/ui/markdown/growing';
import { Flow } from '../src/ui/markdown/paced';
import { blocksOf, extendFor, type MarkdownBlock } from '../src/ui/markdown/parse';
import { unfinished } from '../src/ui/markdown/unfinished';

beforeAll(() => extendFor('$x$'));

const html = (blocks: MarkdownBlock[]) =>
  blocks
    .map(({ code, markup }) => (code ? `[${code.language}] ${code.text}` : markup()))
    .join('\n');
const shownOf = (text: string) => html(blocksOf(unfinished(text)).blocks).trim();

describe('the end of a growing text', () => {
  test.each([
    ['**bo', '<p><strong>bo</strong></p>'],
    ['**bold*', '<p><strong>bold</strong></p>'],
    ['a **', '<p>a</p>'],
    ['a *b **c', '<p>a <em>b <strong>c</strong></em></p>'],
    ['**bold** and *it', '<p><strong>bold</strong> and <em>it</em></p>'],
    ['**with a space ', '<p><strong>with a space</strong></p>'],
    ['~~gone', '<p><del>gone</del></p>'],
    ['call `f(', '<p>call <code>f(</code></p>'],
    ['call ``', '<p>call</p>'],
    ['see [a', '<p>see a</p>'],
    ['see [a]', '<p>see a</p>'],
    ['see [a](https://ex', '<p>see a</p>'],
    ['see [**a](', '<p>see <strong>a</strong></p>'],
    ['![plan](https://ex', '<p>plan</p>'],
    ['see https://ex', '<p>see https://ex</p>'],
    ['see www.ex', '<p>see www.ex</p>'],
    ['see <https://ex', '<p>see https://ex</p>'],
    ['so[^1', '<p>so</p>'],
    ['Here:\n\n`', '<p>Here:</p>'],
    ['Here:\n\n```p', '<p>Here:</p>'],
    ['```python\nx = 1\n``', '[python] x = 1'],
    ['One\n-', '<p>One</p>'],
    ['One\n\n1.', '<p>One</p>'],
    ['One\n\n| a | b', '<p>One</p>'],
    ['One\n\n| a | b |\n|---|-', '<p>One</p>'],
    // What needs nothing
    ['2 * 3 and 2*3', '<p>2 * 3 and 2*3</p>'],
    ['snake_case and x_1', '<p>snake_case and x_1</p>'],
    ['about ~5', '<p>about ~5</p>'],
    ['`a*b` c', '<p><code>a*b</code> c</p>'],
    ['costs \\*5', '<p>costs *5</p>'],
    ['[a](https://ex_a.com) b', '<p><a href="https://ex_a.com">a</a> b</p>'],
  ])('%j', (text, shown) => {
    expect(shownOf(text)).toBe(shown);
  });

  test('shows at each step the beginning of the result, and no other address', () => {
    const text = [
      '## A *small* title\n\nSome **bold, _both_** and `co*de` with [a link](https://example.com/a_b).',
      '- one **item**\n- [two](https://example.com/two)\n  - inner `x`\n\n> Quoted *text*',
      '```python\nprint("**not bold**")\n```\n\n1. First\n2. Second ~~gone~~',
      'See https://example.com/path?q=1 and ![a picture](https://example.com/p.png).\n\nThe **end**.',
    ].join('\n\n');
    const words = (markup: string) => markup.replace(/<[^>]*>/g, '').replace(/\s+/g, '');
    const hrefs = (markup: string) => markup.match(/href="[^"]*"/g) ?? [];
    const growing = new GrowingMarkdown();
    const whole = html(blocksOf(text).blocks);
    let steps = 0;
    for (let end = 1; end <= text.length; end++, steps++) {
      const shown = html(growing.grow(text.slice(0, end), unfinished));
      const at = JSON.stringify(text.slice(Math.max(0, end - 30), end));
      expect(words(whole).startsWith(words(shown)), `${at} ${shown.slice(-80)}`).toBe(true);
      expect(hrefs(whole)).toEqual(expect.arrayContaining(hrefs(shown)));
    }
    expect(steps).toBe(text.length);
    expect(html(growing.finish(text))).toBe(whole);
  });
});

describe('the pace of a growing text', () => {
  test('lumps are shown bit by bit, until the next one comes', () => {
    const flow = new Flow('', 0);
    const lump = 'x'.repeat(500);
    const lengths: number[] = [];
    for (let n = 1; n <= 4; n++) {
      flow.arrive(lump.repeat(n), n * 500);
      for (let ms = 16; ms < 500; ms += 16) lengths.push(flow.next(n * 500 + ms).length);
    }
    const steps = lengths.slice(1).map((length, i) => length - (lengths[i] ?? 0));
    expect(Math.max(...steps)).toBeLessThan(50);
    expect(Math.min(...steps)).toBeGreaterThan(0);
    expect(lengths.at(-1)).toBeGreaterThan(1900);
  });

  test('nothing is split within a character, and another text is shown at once', () => {
    const flow = new Flow('', 0);
    flow.arrive('😀'.repeat(50), 800);
    for (let ms = 801; ms < 1700; ms += 7) {
      expect(flow.next(ms).length % 2).toBe(0);
    }
    flow.arrive('Another', 1700);
    expect(flow.next(1701)).toBe('Another');
  });

  test('with reduced motion it is shown as it comes', () => {
    const flow = new Flow('', 0);
    flow.arrive('x'.repeat(500), 10);
    expect(flow.next(11, true).length).toBe(500);
  });
});
