// How long the end of a chat takes to appear, by the length of the chat: `npm run bench`.

import type { Page } from '@playwright/test';
import { expect, test } from '../support/test.ts';

const LENGTHS = [2, 12, 2000]; // turns; 12 fill the screen
const ROUNDS = 25;
const LAST = 'The newest question';
const PARAGRAPH = 'It goes on for a while, with a word or two of what there is to say. ';

interface Opened {
  /** Milliseconds since the navigation. */
  asked: number;
  answered: number;
  shown: number;
}

test('the end of a chat appears', async ({ console: tab, api, page, url }) => {
  test.setTimeout(600_000);
  const chats = new Map<number, string>();
  for (const length of LENGTHS) {
    const { id } = await api.createSession({ name: `${length} turns` });
    await api.say(id, ...turns(length));
    chats.set(length, id);
  }
  await tab.signIn();
  await page.addInitScript(timeElement, LAST);
  const times = new Map(LENGTHS.map((length): [number, Opened[]] => [length, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [length, id] of chats) {
      const opened = await open(page, `${url}/console/s/${id}`);
      if (round > 0) times.get(length)?.push(opened); // the first fills the caches
    }
  }
  const rows = LENGTHS.map((length) => [length, medians(times.get(length) ?? [])] as const);
  const [, shortest] = rows[0] ?? [];
  for (const [length, { asked, answered, shown }] of rows) {
    const ratio = (shown / (shortest?.shown ?? 1)).toFixed(2);
    process.stdout.write(
      `${length} turns: asked ${asked} ms, answered ${answered} ms, shown ${shown} ms, ${ratio} times as long as ${LENGTHS[0]} turns\n`,
    );
  }
  expect(rows).toHaveLength(LENGTHS.length);
});

// All chats end with the same turns.
function turns(count: number): [question: string, answer: string][] {
  return Array.from({ length: count }, (_, i) => {
    const left = count - 1 - i;
    const question = left === 0 ? LAST : `The question before ${left} others`;
    return [question, `An answer. ${PARAGRAPH.repeat((left * 7) % 30)}`];
  });
}

// Runs in the page: marks the element with a text, before it is painted, for Element Timing.
function timeElement(text: string): void {
  const observer = new MutationObserver(() => {
    const said = [...document.querySelectorAll('[data-testid=body] *')];
    const newest = said.find(({ textContent }) => textContent === text);
    if (!newest) return;
    observer.disconnect();
    newest.setAttribute('elementtiming', 'newest');
  });
  observer.observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    const [shown] = list.getEntries() as (PerformanceEntry & { renderTime: number })[];
    if (shown) performance.mark('shown', { startTime: shown.renderTime });
  }).observe({ type: 'element', buffered: true });
}

async function open(page: Page, address: string): Promise<Opened> {
  await page.goto(address);
  const opened = await page.waitForFunction(() => {
    const [shown] = performance.getEntriesByName('shown');
    const thread = performance
      .getEntriesByType('resource')
      .find(({ name }) => /\/thread\?/.test(name)) as PerformanceResourceTiming | undefined;
    return shown && thread
      ? { asked: thread.startTime, answered: thread.responseEnd, shown: shown.startTime }
      : null;
  });
  return (await opened.jsonValue()) as Opened;
}

function medians(all: Opened[]): Opened {
  const of = (name: keyof Opened) => {
    const sorted = all.map((one) => one[name]).sort((a, b) => a - b);
    return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
  };
  return { asked: of('asked'), answered: of('answered'), shown: of('shown') };
}
