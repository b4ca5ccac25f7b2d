// A session shows the same bubbles after a reload and in a fork, after any random actions.

import type { Api } from '../support/api.ts';
import type { Bubble } from '../support/bubbles.ts';
import type { Console } from '../support/console.ts';
import { Random } from '../support/random.ts';
import { expect, test } from '../support/test.ts';

const STEPS = 7;
const QUESTIONS = [
  'Hello there',
  '**Bold**, `code` and <b>what looks like HTML</b>',
  '/help',
  '/long 25',
  '/items 2',
  '/think threads',
  '/tool the weather',
  '/state mood=good user:name=Ada list=[1,2,3]',
  '/utf8',
  '/fail',
  '/drop',
];

// Others with another PROPERTY_SEED
const SEED = Number(process.env.PROPERTY_SEED ?? 1);

for (const seed of [2 * SEED, 2 * SEED + 1]) {
  test(`random session with seed ${seed}`, async ({ console, api }) => {
    const random = new Random(seed);
    await console.signIn();
    await console.ask('Let us begin');
    await settled(console);
    for (let step = 0; step < STEPS; step++) {
      const shown = await console.bubbles();
      const turns = [...new Set(shown.map(({ invocation }) => invocation))].slice(1);
      const what = random.below(10);
      if (what === 0 && turns.length > 0) await takeBack(console, api, random.pick(turns));
      else if (what === 1) await stop(console);
      else await ask(console, random.pick(QUESTIONS));
    }
    await replayed(console);

    await ask(console, 'And on we go');
    const before = await replayed(console);
    const fork = await api.fork(console.sessionId);
    await console.openSession(fork.id);
    await expect.poll(() => console.bubbles()).toEqual(before);
    await ask(console, 'On another way');
    await replayed(console);
  });
}

async function replayed(console: Console): Promise<Bubble[]> {
  const before = await console.bubbles();
  await console.page.reload();
  await expect.poll(() => console.bubbles()).toEqual(before);
  return before;
}

async function ask(console: Console, question: string): Promise<void> {
  await console.ask(question);
  await settled(console);
}

async function stop(console: Console): Promise<void> {
  await console.ask('/long 3000');
  await expect(console.said('agent').last()).toContainText('word4 ');
  await console.page.getByRole('button', { name: 'Stop' }).click();
  await settled(console);
}

async function takeBack(console: Console, api: Api, invocation: string): Promise<void> {
  await api.rewind(console.sessionId, invocation);
  await expect(console.page.locator(`[data-invocation="${invocation}"]`)).toHaveCount(0);
}

function settled(console: Console): Promise<void> {
  return console.waitFor(/idle|failed/);
}
