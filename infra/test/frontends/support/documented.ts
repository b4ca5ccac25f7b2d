// The pages of docs/frontends.md, as files.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCUMENT = new URL('../../../../docs/frontends.md', import.meta.url);
/** The folder of the pages; it finds the packages of the folder above. */
export const PAGES = fileURLToPath(new URL('../results/pages', import.meta.url));

/** The addresses that the document has in the place of the test's. */
export const DOCUMENTED = { system: 'http://127.0.0.1:3000', runtime: '4000' };

/**
 * Writes every file that the document shows below PAGES, with other addresses.
 * @returns the files' names
 */
export async function writePages(system: string, runtime: number): Promise<string[]> {
  const text = await readFile(DOCUMENT, 'utf8');
  await rm(PAGES, { recursive: true, force: true });
  const names: string[] = [];
  for (const [, code, name] of text.matchAll(/```[a-z]+\n(\/\/ (\S+\.[a-z]+)\n[\s\S]*?)```/g)) {
    if (!code || !name) continue;
    const here = code
      .replaceAll(DOCUMENTED.system, system)
      .replaceAll(DOCUMENTED.runtime, String(runtime));
    await write(name, here);
    names.push(name);
    if (name.endsWith('/main.tsx')) await write(join(dirname(name), 'index.html'), PAGE);
  }
  // The page of clients that the document shows without one.
  await write('clients/main.tsx', "import '../../../support/clients.ts';\n");
  await write('clients/index.html', PAGE);
  return [...names, 'clients/main.tsx'];
}

const PAGE = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Test</title></head>
  <body><div id="root"></div><script type="module" src="./main.tsx"></script></body>
</html>
`;

async function write(name: string, text: string): Promise<void> {
  const path = join(PAGES, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** The npm packages that the document tells to install, with their versions. */
export async function installed(): Promise<[name: string, version: string][]> {
  const text = await readFile(DOCUMENT, 'utf8');
  const lines = text.match(/npm install [^`\n]+/g) ?? [];
  return lines.flatMap((line) =>
    [...line.matchAll(/(@?[a-z][a-z0-9./-]*)@([0-9][^\s`]*)/g)].map(
      ([, name, version]): [string, string] => [name ?? '', version ?? ''],
    ),
  );
}
