import { beforeAll, describe, expect, test, vi } from 'vitest';
import { blocksOf, extendFor } from '../src/ui/markdown/parse';

const html = (text: string) =>
  blocksOf(text)
    .blocks.map((block) => block.html())
    .join('')
    .trim();

beforeAll(() => extendFor('$x$'));

describe('Markdown', () => {
  test('is split into blocks that stay the same while the text grows', () => {
    const before = blocksOf('# One\n\nTwo').blocks;
    const after = blocksOf('# One\n\nTwo and more\n\n- three').blocks;
    expect(after.map(({ kind }) => kind)).toEqual(['heading', 'paragraph', 'list']);
    expect(after[0]?.source).toBe(before[0]?.source);
  });

  test('separates code blocks, including unclosed ones', () => {
    expect(blocksOf('```go run\nfunc').blocks[0]?.code).toEqual({ language: 'go', text: 'func' });
  });

  test('resolves reference links', () => {
    expect(html('[a][1]\n\n[1]: https://example.com')).toContain('href="https://example.com"');
  });

  test('opens links in a new tab', () => {
    expect(html('[a](https://example.com)')).toMatch(/target="_blank".*rel="noopener noreferrer"/);
  });

  test.each([
    ['<script>alert(1)</script>', /<script/],
    ['<img src=x onerror=alert(1)>', /<img/],
    ['[a](javascript:alert(1))', /javascript:/],
    ['<a href="javascript:alert(1)">a</a>', /<a /],
    ['![picture](https://tracker.example/p.png)', /<img/],
    ['<style>*{}</style>', /<style/],
  ])('lets nothing harmful through: %s', (text, harm) => {
    expect(html(text)).not.toMatch(harm);
  });

  test('keeps dates and other short cells of tables in one line', () => {
    const remark = 'Cancellable until Wednesday';
    const table = html(`| day | remark |\n|---|---|\n| 2026-11-28 | ${remark} |`);
    expect(table).toContain('<td nowrap="">2026-11-28</td>');
    expect(table).toContain(`<td>${remark}</td>`);
  });

  test('aligns the columns of tables', () => {
    const table = html('| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 | 3 |');
    const cell = (align: string, text: string) => `<td align="${align}"[^>]*>${text}.*`;
    const row = cell('left', '1') + cell('right', '2') + cell('center', '3');
    expect(table).toMatch(new RegExp(row, 's'));
  });

  test('labels tasks', () => {
    const list = document.createElement('div');
    list.innerHTML = html('- [x] Buy **salt**\n  - [ ] at the corner\n- [ ]  \n\nText');
    const boxes = [...list.querySelectorAll('input')];
    expect(boxes.map((box) => [box.checked, box.disabled, box.ariaLabel])).toEqual([
      [true, true, 'Buy salt'],
      [false, true, 'at the corner'],
    ]);
  });

  test('shows HTML as text', () => {
    const block = document.createElement('div');
    block.innerHTML = html('before <b onclick="x()">bold</b> & after');
    expect(block.textContent).toBe('before <b onclick="x()">bold</b> & after');
  });
});

describe('formulas', () => {
  // Their elements; text that stays text has none.
  const formulas = async (text: string) => {
    html('$x$'); // loads what converts them
    await vi.waitFor(() => expect(html('$x$')).toContain('<math'));
    const shown = document.createElement('div');
    shown.innerHTML = html(text);
    return [...shown.querySelectorAll('math')].map((math) => [
      math.getAttribute('display') ?? 'inline',
      math.textContent,
    ]);
  };

  test.each([
    ['Let $x$ be', [['inline', 'x']]],
    [
      '$a_1 * b_1$ and *so* $c*d$',
      [
        ['inline', 'a1∗b1'],
        ['inline', 'c∗d'],
      ],
    ],
    ['From \\(n^2\\) on', [['inline', 'n2']]],
    ['So $$x + y$$ holds', [['block', 'x+y']]],
    ['So\n$$\nx\n+ y\n$$\nholds', [['block', 'x+y']]],
    ['So\n\n\\[\na\n= b\n\\]\n', [['block', 'a=b']]],
    [
      '- one\n  $$\n  x\n  $$\n- two $y$',
      [
        ['block', 'x'],
        ['inline', 'y'],
      ],
    ],
    ['| a |\n|---|\n| $z^2$ |', [['inline', 'z2']]],
  ])('are found: %j', async (text, found) => expect(await formulas(text)).toEqual(found));

  test.each([
    'It costs $5 and $10.',
    'Between $5-$10, or 7$ and 8$.',
    'US$ and CA$ are currencies.',
    'Set $HOME and $PATH, or $HOME/$USER.',
    'A \\$5 note, a \\$10 note',
    '`$x$` is code',
    '$5, or 10$ less',
    '\\[1\\] and \\[a link\\](https://example.com)',
    'So\n$$\nx\n\ny',
    '```\n$$x$$\n```',
  ])('are not seen in %j', async (text) => expect(await formulas(text)).toEqual([]));

  test('with errors show their source', async () => {
    expect(await formulas('$\\nonsense{$')).toEqual([]);
    expect(html('$\\nonsense{$')).toContain('<code>\\nonsense{</code>');
  });

  test('bring no styles, links or markup with them', async () => {
    await formulas('$x$');
    const text = '$\\href{javascript:alert(1)}{x} \\htmlStyle{color:red}{y} \\text{<img src=x>}$';
    expect(html(text)).not.toMatch(/style=|href=|<img/);
    expect(html('$\\color{red}x$')).not.toMatch(/style=/);
  });
});

describe('footnotes', () => {
  const shown = (text: string) => {
    const element = document.createElement('div');
    element.innerHTML = html(text);
    return element;
  };

  test('connect a reference and its note', () => {
    const text = shown('One[^1], two[^b].\n\n[^1]: The *first*.\n[^b]: Another\n\n    with more.');
    const [first, second] = text.querySelectorAll<HTMLElement>('[data-note]');
    expect([first?.textContent, second?.textContent]).toEqual(['1', 'b']);
    expect(first?.getAttribute('aria-label')).toBe('Footnote 1');
    expect(text.querySelector('em')?.textContent).toBe('first');
    expect(text.querySelectorAll('[data-note-of]')).toHaveLength(2);
    expect(text.querySelectorAll('[id], a')).toHaveLength(0);
  });

  test('that do not exist are text', () => {
    expect(shown('Not one[^1].').textContent?.trim()).toBe('Not one[^1].');
  });
});
