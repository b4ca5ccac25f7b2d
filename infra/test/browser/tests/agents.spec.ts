// The questions of agents to the person.

import type { Route } from '@playwright/test';
import type { Api } from '../support/api.ts';
import { expect, test } from '../support/test.ts';

/** Appends an answer with calls that wait for a person. */
async function asks(
  api: Api,
  session: string,
  calls: { id: string; name: string; args: object }[],
) {
  const parts = calls.map((function_call) => ({ function_call }));
  const event = {
    invocation_id: 'asks',
    author: 'demo',
    content: { role: 'model', parts },
    long_running_tool_ids: calls.map(({ id }) => id),
  };
  await api.send('POST', `/sessions/${session}/events`, { events: [event] });
}

/** The responses to calls that the person has sent. */
async function responses(api: Api, session: string): Promise<unknown[]> {
  const events = await api.events(session);
  const parts = events
    .filter(({ author }) => author === 'user')
    .flatMap((e) => e.content?.parts ?? []);
  return parts.flatMap((part) => (part as { function_response?: unknown }).function_response ?? []);
}

test('a call that waits is answered in the chat', async ({ console, page }) => {
  await console.signIn();
  await console.ask('/tool weather');
  await console.waitFor('idle');
  const question = page.getByTestId('question');
  await expect(question).toContainText('The agent waits for the answer of look_up.');
  await question.getByRole('textbox', { name: 'Your answer' }).fill('Sunny');
  await question.getByRole('button', { name: 'Answer', exact: true }).click();
  await expect(question).toHaveCount(0);
  await expect(console.said('user').last()).toHaveText('Sunny');
  await expect(console.said('agent').last()).toContainText('The tool answered');
  await console.waitFor('idle');
  await page.reload();
  await expect(console.said('user')).toHaveText(['/tool weather', 'Sunny']);
  await expect(page.getByTestId('question')).toHaveCount(0);
});

const confirmation = {
  id: 'q',
  name: 'adk_request_confirmation',
  args: { toolConfirmation: { hint: 'Delete all files?' } },
};

const ANSWERED = 'The question has already been answered. Your answer was not sent.';

test('of an approval and a rejection at once, one reaches the agent', async ({
  console,
  api,
  page,
  context,
  faults,
  openTab,
}) => {
  faults.allow(/status of 409/);
  const { id } = await api.createSession({ name: 'Files' });
  await asks(api, id, [confirmation]);
  await console.signIn(`/s/${id}`);
  const other = await openTab(id);
  const starts: Route[] = [];
  await context.route('**/runs', (route) => void starts.push(route));
  for (const [tab, choice] of [
    [other.page, 'Reject'],
    [page, 'Approve'],
  ] as const) {
    await tab.bringToFront();
    await tab.getByRole('button', { name: choice }).click();
  }
  await expect.poll(() => starts.length).toBe(2);
  for (const start of starts) await start.continue();

  const told = [page, other.page].map((tab) => tab.getByText(ANSWERED));
  const losers = async () => (await Promise.all(told.map((toast) => toast.count()))).sort();
  await expect.poll(losers).toEqual([0, 1]);
  const given = await responses(api, id);
  expect(given).toHaveLength(1);
  const { confirmed } = (given[0] as { response: { confirmed: boolean } }).response;
  for (const tab of [console, other]) {
    await tab.waitFor('idle');
    await expect(tab.said('user')).toHaveText([confirmed ? 'Approved' : 'Rejected']);
    await expect(tab.said('agent').last()).toContainText('The tool answered');
    await expect(tab.page.getByTestId('question')).toHaveCount(0);
  }
});
