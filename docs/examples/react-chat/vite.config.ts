import { defineConfig } from 'vite';

// The system that `make run` starts, or another one.
const system = process.env.RETHREAD_URL ?? 'http://127.0.0.1:3000';
const proxy = { '/api': system, '/dev': system };

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic' } },
  server: { proxy },
  preview: { proxy },
});
