import { describe, expect, test } from 'vitest';
import { blocksOf } from '../src/ui/markdown/parse';

const html = (text: string) =>
  blocksOf(text)
    .blocks.map((block) => block.html())
    .join('')
    .trim();

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

  test('aligns the columns of tables', () => {
    const table = html('| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 | 3 |');
    expect(table).toMatch(/<td align="left">1.*<td align="right">2.*<td align="center">3/s);
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
