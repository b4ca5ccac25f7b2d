// @vitest-environment node
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { bindings } from '../src/ui/keys/registry';

test('the documentation has the keys', async () => {
  const page = await readFile('../../../docs/console.md', 'utf8');
  const table = /\n## Keys\n[\s\S]*?(\| key[\s\S]*?)\n\n/.exec(page)?.[1];
  const rows = bindings.map(({ keys, label, group, character }) => {
    const where = `${group.toLowerCase()}${character ? ', except in fields' : ''}`;
    return `| ${keys.map((key) => `\`${key.replace('Mod', 'Ctrl')}\``).join(', ')} | ${where} | ${label} |`;
  });
  expect(table?.split('\n')).toEqual(['| key | where | what it does |', '|---|---|---|', ...rows]);
});
