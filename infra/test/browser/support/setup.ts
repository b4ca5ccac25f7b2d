// Starts one system for all tests; they are isolated because each has its own user.

import { startSystem } from './system.ts';

export default async function setup(): Promise<() => Promise<void>> {
  const system = await startSystem('local');
  process.env.RETHREAD_URL = system.url; // inherited by the workers
  return system.stop;
}
