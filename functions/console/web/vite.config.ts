import { defineConfig } from 'vitest/config';
import { budget } from './budget.ts';

// The API for `vite` (npm run dev): by default the system started by `make run`.
const system = process.env.RETHREAD_URL ?? 'http://127.0.0.1:3000';

const base = '/console/';

const COMPONENTS = 'test/components.test.ts';

export default defineConfig({
  base,
  plugins: [budget(base)],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: {
    alias: { react: 'preact/compat', 'react-dom': 'preact/compat' },
    dedupe: ['preact', '@preact/signals-core'],
  },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // the page's policy allows nothing inline
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onLog(level, log, report) {
        // The list's "use client" concerns servers, of which the page has none.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
  server: {
    fs: { allow: ['.', '../../../clients/js'] },
    proxy: { '/api': system, '/dev': system, '/console/config.json': system },
  },
  test: {
    environment: 'jsdom',
    testTimeout: 60_000, // a busy machine; what never comes fails by then
    setupFiles: ['test/setup.ts'],
    // These use React by its alias, and the page's own Preact, not a copy in another format of modules.
    server: { deps: { inline: [/virtua/, /@testing-library.preact/] } },
    projects: [
      {
        extends: true,
        test: {
          name: 'units',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: [COMPONENTS],
          isolate: false,
        },
      },
      // Modules that they load keep what they have found of the page, so it is theirs alone.
      { extends: true, test: { name: 'components', include: [COMPONENTS] } },
    ],
  },
});
