// A page of docs/ that a reader follows: files to write, and commands for numbered terminals.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './system.ts';

/** A file to write, or commands to type. */
export type Step =
  | { file: string; text: string }
  | { terminal: number; interrupt: boolean; commands: string[] };

const TERMINALS = ['first terminal', 'second terminal', 'third terminal'];
const BLOCK = /^```(\w+)\n(.*?)^```$/gms;
const NAME = /^(?:\/\/|#|<!--) (\S+\.\w+)(?: -->)?$/m;

/**
 * Returns the steps of a page in order. A block of `sh` belongs to the terminal that the paragraph
 * above it names, where `Ctrl-C` there stops the running command first. Other blocks are files,
 * named in their first line.
 */
export async function readTutorial(name: string): Promise<Step[]> {
  const text = await readFile(join(ROOT, 'docs', name), 'utf8');
  let end = 0;
  return [...text.matchAll(BLOCK)].map((block) => {
    const [before, language, body] = [text.slice(end, block.index), block[1], block[2] ?? ''];
    end = block.index + block[0].length;
    return language === 'sh' ? commands(before, body) : file(body);
  });
}

function commands(before: string, body: string): Step {
  const named = TERMINALS.flatMap((terminal, i) => {
    const at = before.toLowerCase().lastIndexOf(terminal);
    return at < 0 ? [] : [{ at, i }];
  });
  const last = named.sort((a, b) => a.at - b.at).at(-1);
  if (!last) throw new Error(`no terminal is named above: ${body}`);
  const interrupt = before.slice(last.at).includes('Ctrl-C');
  return { terminal: last.i, interrupt, commands: body.trim().split(/(?<!\\)\n/) };
}

function file(text: string): Step {
  const name = NAME.exec(text.slice(0, text.indexOf('\n')))?.[1];
  if (!name) throw new Error(`a file without a name: ${text}`);
  return { file: name, text };
}
