// The choice of an agent, and the questions of agents to the person.

import type { Page, Route } from '@playwright/test';
import { expectAccessible } from '../support/accessible.ts';
import type { Api } from '../support/api.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

async function choose(page: Page, agent: string): Promise<void> {
  await page.getByTestId('agent').click();
  const dialog = page.getByRole('dialog', { name: 'Agent' });
  await dialog.getByRole('radio', { name: agent, exact: true }).check();
  await expect(dialog.getByText('Loading its card')).toHaveCount(0);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Choose' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByTestId('agent')).toHaveText(`Agent: ${agent}`);
}

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

onScreens(ALL, ({ resize }) => {
  test('an agent is chosen for a new chat and while it goes on', async ({ console, api, page }) => {
    await console.signIn();
    await resize(page);
    await choose(page, 'demo');
    await console.ask('Hello');
    await console.waitFor('idle');
    expect(await api.send('GET', `/sessions/${console.sessionId}`)).toMatchObject({
      data: { agent: 'demo' },
    });
    await choose(page, 'default');
    await console.ask('And you?');
    await console.waitFor('idle');
    const agents = [];
    for (const { invocation } of (await console.bubbles()).filter(({ role }) => role === 'agent')) {
      agents.push(await api.send('GET', `/sessions/${console.sessionId}/runs/${invocation}`));
    }
    expect(agents).toMatchObject([{ data: { agent: 'demo' } }, { data: { agent: 'default' } }]);
    await page.reload();
    await expect(page.getByTestId('agent')).toHaveText('Agent: default');
  });

  test('a call that waits is answered in the chat', async ({ console, page }) => {
    await console.signIn();
    await resize(page);
    await console.ask('/tool weather');
    await console.waitFor('idle');
    const question = page.getByTestId('question');
    await expect(question).toContainText('The agent waits for the answer of look_up.');
    await expectAccessible(page);
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
});

test('a call that needs a confirmation is shown, and approved', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Files' });
  const about = { id: 'call', name: 'delete_files', args: { path: '/tmp' } };
  const args = { originalFunctionCall: about, toolConfirmation: { hint: 'Delete all files?' } };
  await asks(api, id, [about, { id: 'q', name: 'adk_request_confirmation', args }]);
  await console.signIn(`/s/${id}`);
  const question = page.getByTestId('question');
  await expect(question).toContainText('Delete all files?');
  await expect(question).toContainText('delete_files');
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Approve' }).click();
  await expect(console.said('user')).toHaveText(['Approved']);
  const given = [{ id: 'q', response: { confirmed: true } }];
  await expect.poll(() => responses(api, id)).toMatchObject(given);
  await console.waitFor('idle');
});

test('several questions are answered together', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Order' });
  const properties = { size: { type: 'integer' }, gift: { type: 'boolean' } };
  const schema = { type: 'object', required: ['size'], properties };
  await asks(api, id, [
    { id: 'colour', name: 'ask', args: { question: 'Which colour?', choices: ['Red', 'Blue'] } },
    { id: 'more', name: 'ag_ui_interrupt', args: { message: 'The rest?', responseSchema: schema } },
  ]);
  await console.signIn(`/s/${id}`);
  const send = page.getByRole('button', { name: 'Send 2 answers' });
  await expect(send).toBeDisabled();
  await page.getByRole('button', { name: 'Red', exact: true }).click();
  await page.getByRole('spinbutton', { name: 'size' }).fill('3');
  await page.getByRole('combobox', { name: 'gift' }).selectOption('Yes');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Answer', exact: true }).click();
  await send.click();
  await expect(page.getByTestId('questions')).toHaveCount(0);
  await expect
    .poll(() => responses(api, id))
    .toMatchObject([
      { id: 'colour', response: { result: 'Red' } },
      { id: 'more', response: { size: 3, gift: true } },
    ]);
  await console.waitFor('idle');
});

test('a reader sees the agent’s question without a form', async ({
  console,
  api,
  page,
  browser,
}) => {
  const { id } = await api.createSession({ name: 'Shared' });
  await asks(api, id, [{ id: 'q', name: 'ask', args: { question: 'Which?' } }]);
  await console.signIn(`/s/${id}`);
  await expect(page.getByTestId('question')).toHaveCount(1);
  const guest = await browser.newContext();
  const reader = await guest.newPage();
  await api.send('POST', `/sessions/${id}/shares`, {
    access: 'read',
    user_id: `${api.user}-reader`,
  });
  await reader.goto(`${console.url}/console/s/${id}`);
  await reader.getByLabel('Your name').fill(`${api.user}-reader`);
  await reader.getByRole('button', { name: 'Sign in' }).click();
  await expect(reader.getByText('You can read this chat.')).toBeVisible();
  await expect(reader.getByTestId('question')).toHaveCount(0);
  await guest.close();
});

const confirmation = {
  id: 'q',
  name: 'adk_request_confirmation',
  args: { toolConfirmation: { hint: 'Delete all files?' } },
};

const ANSWERED = 'The question has already been answered. Your answer was not sent.';

for (const { when, width, between } of [
  { when: 'at once', width: 1280, between: async () => {} },
  {
    when: 'before the other tab knows',
    width: 375,
    between: async (api: Api, id: string) => {
      await expect.poll(async () => (await responses(api, id)).length).toBe(1);
      await expect.poll(async () => (await api.session(id)).active_run_id).toBeNull();
    },
  },
]) {
  test(`of an approval and a rejection ${when}, one reaches the agent, ${width} pixels wide`, async ({
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
      await tab.setViewportSize({ width, height: 800 });
      await tab.getByRole('button', { name: choice }).click();
    }
    await expect.poll(() => starts.length).toBe(2);
    await starts[0]?.continue();
    await between(api, id);
    await starts[1]?.continue();

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
}

test('an answer is not sent behind another question', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Colours' });
  await asks(api, id, [{ id: 'q', name: 'ask', args: { question: 'Which?' } }]);
  await console.signIn(`/s/${id}`);
  const reads: Route[] = [];
  await page.route('**/thread?order=desc*', (route) => void reads.push(route));
  await page.getByRole('textbox', { name: 'Your answer' }).fill('Blue');
  await page.getByRole('button', { name: 'Answer', exact: true }).click();
  await expect.poll(() => reads.length).toBe(1);
  await api.ask(id, '/long 300');
  await reads[0]?.continue();
  await expect(page.getByTestId('toast')).toContainText('The chat has gone on since the question.');
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Blue');
  await expect(console.said('user')).toHaveText(['/long 300']);
  await expect(page.getByTestId('queue')).toHaveCount(0);
  expect(await responses(api, id)).toEqual([]);
});

const preferGone = (page: Page) =>
  page.addInitScript(() => localStorage.setItem('rethread.agent', 'gone'));

test('a new chat does not use a remembered agent that is not configured any more', async ({
  console,
  page,
}) => {
  await preferGone(page);
  const reads: Route[] = [];
  await page.route('**/v1/models', (route) => void reads.push(route));
  await console.signIn();
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
  await page.keyboard.press('Enter');
  await expect.poll(() => reads.length).toBe(1);
  await reads[0]?.continue();
  await expect(page.getByTestId('toast')).toContainText('is not available. The default one is');
  await expect(console.said('agent')).toContainText('You said: "Hello"');
  await console.waitFor('idle');
  await expect(page.getByTestId('agent')).toHaveText('Agent: default');
});

test('a new chat begins with the default agent if the agents cannot be loaded', async ({
  console,
  page,
  faults,
}) => {
  faults.allow(/ERR_FAILED/);
  await preferGone(page);
  await page.route('**/v1/models', (route) => route.abort());
  await console.signIn();
  await console.ask('Hello');
  await expect(page.getByTestId('toast')).toContainText('The agents could not be loaded.');
  await expect(console.said('agent')).toContainText('You said: "Hello"');
  await console.waitFor('idle');
});
