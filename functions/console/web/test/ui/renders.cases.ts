// What a growing answer renders: its own row, however long the chat is.

import { expect, test, vi, waitFor } from './page';
import { count } from './renders';
import { saying, type World } from './world';

const DELTAS = 10;

const growing = () => document.querySelector('.growing')?.textContent?.trim();

/** Streams an answer, a word at a time; returns the renders of a delta. */
async function stream(api: World, id: string): Promise<Map<string, number>> {
  const run = api.start(id, [saying('user', 'Tell me')]);
  const { epoch } = api.session(id);
  const item = api.append(id, run, { ...saying('demo', 'Begun'), status: 'in_progress' });
  await waitFor(() => expect(growing()).toBe('Begun'));
  const say = async (n: number) => {
    const at = (offset: number) => `${epoch}.${item.seq}.${offset}`;
    const delta = { part: 0, text: ` word${n}` };
    const where = { prev: at(n - 1), cursor: at(n), item_id: item.id };
    api.push(id, { type: 'item.delta', ...where, delta });
    await waitFor(() => expect(growing()).toMatch(new RegExp(` word${n}$`)), { interval: 5 });
  };
  await say(1); // what the question itself has changed is rendered by then
  const { counts, stop } = count();
  for (let n = 2; n <= DELTAS + 1; n++) await say(n);
  stop();
  return new Map([...counts].map(([name, times]) => [name, times / DELTAS]));
}

test('a delta renders the row of its message alone', async ({ api, page }) => {
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => setTimeout(run, 0));
  const totals: number[] = [];
  for (const turns of [1, 12]) {
    const { id } = api.createSession({ name: `Of ${turns}` });
    api.say(id, ...Array.from({ length: turns }, (_, i): [string, string] => [`Q${i}`, `A${i}`]));
    api.answers = () => null;
    await page.openSession(id);
    await waitFor(() => expect(page.said('user').length).toBe(turns));
    const renders = await stream(api, id);
    const total = [...renders.values()].reduce((sum, times) => sum + times, 0);
    expect([...renders.keys()], 'components').not.toContain('Thread');
    expect(total, JSON.stringify([...renders])).toBeLessThan(18);
    totals.push(total);
    api.end(id, 'Done.');
  }
  const [short = 0, long = 0] = totals;
  expect(long / short).toBeLessThan(1.3);
});
