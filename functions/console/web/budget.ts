// The weight of the first screen: the scripts and styles that index.html names, and what those
// import at once. Everything else is loaded when it is shown (src/ui/kit/lazy.tsx).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Bytes of the first screen, compressed. */
export const FIRST_SCREEN = 120_000;

/** Fails a build whose first screen is too heavy. */
export function budget(base: string): Plugin {
  return {
    name: 'budget',
    apply: 'build',
    writeBundle({ dir = '' }) {
      const files = firstScreen(dir, base);
      const bytes = Object.values(files).reduce((sum, size) => sum + size, 0);
      const spent = `first screen: ${bytes} of ${FIRST_SCREEN} bytes compressed`;
      if (bytes > FIRST_SCREEN) {
        this.error(`${spent}, in ${Object.keys(files).join(', ')}; load more of it later`);
      }
      this.info(spent);
    },
  };
}

/** The compressed size of each file that the first screen needs. */
export function firstScreen(dir: string, base: string): Record<string, number> {
  const html = readFileSync(join(dir, 'index.html'), 'utf8');
  const queue = [...html.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, address]) =>
    String(address).slice(base.length),
  );
  const sizes: Record<string, number> = {};
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (name in sizes) continue;
    const body = readFileSync(join(dir, name));
    sizes[name] = gzipSync(body, { level: 9 }).length;
    if (name.endsWith('.js')) queue.push(...importedBy(name, body.toString()));
  }
  return sizes;
}

// Static imports alone: the name in import("./later.js") follows a parenthesis.
function importedBy(name: string, code: string): string[] {
  const found = code.matchAll(/\b(?:from|import)\s*["'](\.{1,2}\/[^"']+\.js)["']/g);
  return [...found].map(([, path]) => join(name, '..', String(path)));
}
