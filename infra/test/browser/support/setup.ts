// One system for all tests: each has a user of its own, and so a system of its own to look at.

import { startSystem } from './system.ts';

export default async function setup(): Promise<() => Promise<void>> {
  const system = await startSystem('local');
  process.env.RETHREAD_URL = system.url; // workers take it over
  return system.stop;
}
