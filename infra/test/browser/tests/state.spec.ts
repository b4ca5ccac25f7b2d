// The state panel.

import { expectAccessible } from '../support/accessible.ts';
import { expect, test } from '../support/test.ts';

test('shows the state by scope, current and as of any message', async ({ console, page }) => {
  await console.signIn();
  await console.ask('/state city=Lisbon user:language=en');
  await console.waitFor('idle');
  await page.getByRole('button', { name: 'Side panel' }).click();
  const state = page.getByTestId('state');
  const scope = (name: string) => state.getByRole('region', { name });
  await expect(scope('Chat')).toContainText(/city\s*Lisbon/);
  await expect(scope('User')).toContainText(/language\s*en/);

  await console.ask('/state city=Porto stops=["Coimbra","Aveiro"]');
  await expect(scope('Chat')).toContainText(/city\s*Porto/);
  await console.waitFor('idle');
  await console.ask('/state stops=null');
  await expect(scope('Chat')).not.toContainText('stops');
  await console.waitFor('idle');

  const moment = page.getByTestId('state-moment');
  await expect(moment).toHaveText('Now');
  await page.getByRole('button', { name: 'Previous change' }).click();
  await expect(moment).toContainText('demo changed stops');
  await expect(state).toContainText('Removed here: stops');
  await page.getByRole('button', { name: 'Previous change' }).click();
  await expect(moment).toContainText('demo changed city, stops');
  await expect(scope('Chat')).toContainText('Coimbra');
  await expect(state.locator('[data-changed=true] dt')).toContainText(['city', 'stops']);
  await page.getByRole('slider', { name: 'State as of' }).press('ArrowLeft');
  await expect(scope('Chat')).toContainText(/city\s*changed here\s*Lisbon/);
  await expect(scope('User')).toContainText('As set by this chat');
  await page.getByRole('button', { name: 'Show current state' }).click();
  await expect(scope('Chat')).toContainText(/city\s*Porto/);

  const answer = page.getByTestId('message').filter({ hasText: 'I remember 2 things' }).first();
  await answer.hover();
  await answer.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'State at this point' }).click();
  await expect(scope('Chat')).toContainText(/Lisbon/);
});

test('shows how the state was before a change', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Trip', state: { city: 'Lisbon' } });
  await console.signIn(`/s/${id}`);
  await console.ask('/state city=Porto');
  await console.waitFor('idle');
  await page.getByRole('button', { name: 'Side panel' }).click();
  const session = page.getByTestId('state').getByRole('region', { name: 'Chat' });
  await expect(session).toContainText(/city\s*Porto/);
  await page.getByRole('button', { name: 'Previous change' }).click();
  await expect(page.getByTestId('state-moment')).toContainText('demo changed city');
  await page.getByRole('slider', { name: 'State as of' }).press('ArrowLeft');
  await expect(session).toContainText('Lisbon');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Show current state' }).click();
  await expect(session).toContainText(/city\s*Porto/);
});

test('a rewind updates the shown state', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Back', state: { mood: 'good' } });
  await console.signIn(`/s/${id}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  const state = page.getByTestId('state');
  await expect(state).toContainText(/mood\s*good/);
  await console.ask('/state mood=bad');
  await expect(state).toContainText(/mood\s*bad/);
  await console.waitFor('idle');
  await page.getByRole('button', { name: 'Previous change' }).click();
  await expect(page.getByTestId('state-moment')).toContainText('demo changed mood');

  const invocation = (await console.bubbles())[0]?.invocation ?? '';
  await api.rewind(id, invocation);
  await expect(page.getByTestId('state-moment')).toHaveText('Now');
  await expect(state).toContainText(/mood\s*good/);
});

test('large values are folded', async ({ console, api, page }) => {
  const big = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`key${i}`, i]));
  const { id } = await api.createSession({ name: 'Much', state: { big, small: { a: 1 } } });
  await console.signIn(`/s/${id}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  const fold = page.getByTestId('state').locator('details');
  await expect(fold).toHaveCount(1);
  await expect(fold.locator('pre')).toBeHidden();
  await fold.getByText('200 keys').click();
  await expect(fold.locator('pre')).toContainText('"key199": 199');
});

test('in a long session an early state includes all changes before it', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'Long', state: { mood: 'good' } });
  const change = { invocation_id: 'early', author: 'demo', actions: { state_delta: { n: 1 } } };
  await api.send('POST', `/sessions/${id}/events`, { events: [change] });
  await api.say(id, ...Array.from({ length: 70 }, (): [string, string] => ['More?', 'More.']));
  const late = { ...change, invocation_id: 'late', actions: { state_delta: { mood: 'bad' } } };
  await api.send('POST', `/sessions/${id}/events`, { events: [late] });
  await console.signIn(`/s/${id}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  const state = page.getByTestId('state');
  await expect(state).toContainText(/mood\s*bad/);
  await page.getByRole('button', { name: 'Previous change' }).click();
  await expect(state).toContainText(/mood\s*changed here\s*bad\s*n\s*1/);
  await page.getByRole('button', { name: 'Previous change' }).click();
  await expect(state).toContainText(/mood\s*good\s*n\s*changed here\s*1/);
});
