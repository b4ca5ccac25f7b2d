// The page on paper, in colours that the system sets, and what a growing answer changes of it.

import { boxOf } from '../support/boxes.ts';
import { expect, test } from '../support/test.ts';

const ANSWER = 'A sentence of an answer that is to be printed. '.repeat(60);

test('all answers are printed, without what surrounds them', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Twelve answers' });
  const turns = Array.from({ length: 12 }, (_, i): [string, string] => [`Q${i}?`, ANSWER]);
  await api.say(id, ...turns);
  await console.signIn(`/s/${id}`);
  await expect(console.said('agent')).toHaveCount(12);
  const around = ['.sidebar', '.composer', '.actions'].map((one) => page.locator(one).first());
  for (const one of around) await expect(one).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  for (const one of around) await expect(one).toBeHidden();
  const boxes = await Promise.all((await console.said('agent').all()).map(boxOf));
  const tops = boxes.map((box) => box.y);
  expect(new Set(tops).size).toBe(tops.length);
  expect(tops).toEqual([...tops].sort((a, b) => a - b));
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
  expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(3);
});

test('forced colours show the open chat and the active tab', async ({ console, api, page }) => {
  await api.createSession({ name: 'Other' });
  const { id } = await api.createSession({ name: 'Open' });
  await page.emulateMedia({ forcedColors: 'active' });
  await console.signIn(`/s/${id}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  const background = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((one) => getComputedStyle(one).backgroundColor);
  for (const [chosen, other] of [
    ['.session[data-here="true"] a', '.session[data-here="false"] a'],
    ['.tabs [aria-selected="true"]', '.tabs [aria-selected="false"]'],
    ['.list-kinds [aria-pressed="true"]', '.list-kinds [aria-pressed="false"]'],
  ] as const) {
    await expect(page.locator(other).first()).toBeVisible();
    expect(await background(chosen), chosen).not.toBe(await background(other));
  }
});

test('a growing answer changes its own message alone', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Long' });
  await api.say(id, ...Array.from({ length: 20 }, (_, i): [string, string] => [`Q${i}?`, `A${i}`]));
  await console.signIn(`/s/${id}`);
  await console.ask('/long 400');
  await console.waitFor('in_progress');
  await expect(console.said('agent').last()).toContainText(/\w+ \w+/);
  const changed = await page.evaluate(
    () =>
      new Promise<(string | undefined)[]>((done) => {
        const found: (string | undefined)[] = [];
        const observer = new MutationObserver((records) => {
          for (const { target } of records) {
            const element = target instanceof Element ? target : target.parentElement;
            found.push(element?.closest<HTMLElement>('article')?.dataset.status);
          }
          if (found.length < 20) return;
          observer.disconnect();
          done(found);
        });
        const thread = document.querySelector('.thread-content');
        if (thread) {
          observer.observe(thread, { subtree: true, childList: true, characterData: true });
        }
      }),
  );
  expect(new Set(changed)).toEqual(new Set(['in_progress']));
});
