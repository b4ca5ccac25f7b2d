// The local system of `make run` as a child process, on free ports, with its table in memory.

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const START_TIMEOUT = 5 * 60_000; // milliseconds; the first start downloads the database
const STOP_WITHIN = 20_000;

/** Where a system listens, and keeps its data; by default on free ports, and in memory. */
export interface Place {
  http: string;
  ws: string;
  data: string;
}

const ANYWHERE: Place = { http: '127.0.0.1:0', ws: '127.0.0.1:0', data: '' };

export interface System {
  /** Base address of the HTTP API. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts a system and waits until it is ready.
 * @param name name of its log in results/
 * @param env variables in addition to this process's environment
 */
export async function startSystem(
  name: string,
  env: Record<string, string> = {},
  { http, ws, data } = ANYWHERE,
): Promise<System> {
  const log = join(ROOT, 'infra/test/browser/results', `${name}.log`);
  await mkdir(dirname(log), { recursive: true });
  const args = ['-root', ROOT, '-http', http, '-ws', ws, '-data', data];
  const child = spawn(join(ROOT, 'build/rethread-local'), args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = () => child.kill('SIGINT'); // if this process ends without teardown
  process.once('exit', end);
  const out = createWriteStream(log);
  child.stdout.pipe(out, { end: false });
  child.stderr.pipe(out, { end: false });
  const stop = async () => {
    process.off('exit', end);
    await ended(child);
  };
  try {
    return { url: await address(child), stop };
  } catch (error) {
    await stop();
    throw new Error(`the local system did not start: see ${log}`, { cause: error });
  }
}

/** Returns the address from the system's output when it is ready. */
function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error('it is silent')), START_TIMEOUT);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`it ended with status ${code}`)));
    child.stdout?.on('data', function read(chunk) {
      said += chunk;
      const url = /Rethread answers on (http:\/\/\S+)/.exec(said)?.[1];
      if (!url) return;
      clearTimeout(timer);
      child.stdout?.off('data', read);
      resolve(url);
    });
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN);
  child.kill('SIGINT');
  await exit;
  clearTimeout(timer);
}
