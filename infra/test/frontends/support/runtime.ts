// CopilotKit's runtime as a process that reaches only this machine.

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

/** Its output, in which refused connections are named. */
export const RUNTIME_LOG = fileURLToPath(new URL('../results/runtime.log', import.meta.url));
export const OFFLINE = fileURLToPath(new URL('offline.mjs', import.meta.url));

/** Starts a program that serves a runtime at a port, and waits until it answers. */
export async function startRuntime(
  program: string,
  port: number,
  env: Record<string, string> = {},
): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--import', OFFLINE, program], {
    env: { ...process.env, ...env, COPILOTKIT_TELEMETRY_DISABLED: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill()); // if this process ends without teardown
  const log = createWriteStream(RUNTIME_LOG, { flags: 'a' });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the runtime ended with status ${code}`)));
  });
  await Promise.race([ended, answers(`http://127.0.0.1:${port}/copilotkit/info`)]);
  ended.catch(() => {}); // from now on it may end
  return child;
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}
