// What the stories of the generated TypeScript clients share.

import { deepStrictEqual } from 'node:assert';
import { setTimeout } from 'node:timers/promises';

export const url = process.env['RETHREAD_URL'] ?? '';
export const token = process.env['RETHREAD_TOKEN'] ?? '';

export const question = '/tool weather';
export const remark = 'Thank you';
export const artifact = 'report.bin';
export const taskId = 'task-1';
export const bytes = new Uint8Array([0, 1, 0x72, 0x74, 0xff]);
export const unknown = 'no-such-session';

const pollEvery = 50;
const pollFor = 20_000;

/** Reports a step of the story to the program that runs it. */
export function done(step: string): void {
  process.stdout.write(`${step}\n`);
}

/** Ends the story if the values differ. */
export function equal<T>(what: string, got: T, want: T): void {
  deepStrictEqual(got, want, `${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

/** Returns a value that must exist. */
export function present<T>(what: string, value: T | null | undefined): T {
  if (value === null || value === undefined) {
    throw new Error(`${what} is missing`);
  }
  return value;
}

/** Reads until the value has reached its end. */
export async function poll<T>(read: () => Promise<T>, ended: (value: T) => boolean): Promise<T> {
  const start = Date.now();
  for (;;) {
    const value = await read();
    if (ended(value)) {
      return value;
    }
    if (Date.now() - start > pollFor) {
      throw new Error(`not within ${pollFor} ms: ${JSON.stringify(value)}`);
    }
    await setTimeout(pollEvery);
  }
}
