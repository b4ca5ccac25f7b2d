// The tests of components: they share one page, since loading the console takes longer than a test.

import { describe } from 'vitest';

for (const [path, load] of Object.entries(import.meta.glob('./ui/*.cases.ts'))) {
  describe(path, async () => {
    await load();
  });
}
