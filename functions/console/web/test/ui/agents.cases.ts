// The choice of an agent, and the questions of agents to the person.

import { expect, screen, test, waitFor, within } from './page';
import { inputsOf, type World } from './world';

const RUNS = 'POST /sessions/{session_id}/runs';
const ANSWERED = 'The question has already been answered. Your answer was not sent.';

type Call = { id: string; name: string; args: Record<string, unknown> };

/** Makes a session with calls that wait for a person. */
function asks(api: World, ...calls: Call[]): string {
  const { id } = api.createSession({ name: 'Files' });
  api.append(id, 'asks', {
    author: 'demo',
    content: { role: 'model', parts: calls.map((function_call) => ({ function_call })) },
    long_running_tool_ids: calls.map((call) => call.id),
  });
  return id;
}

/** The responses to calls that were sent. */
const responses = (api: World) =>
  api
    .askedFor(RUNS)
    .flatMap(({ body }) => inputsOf(body).flatMap(({ content }) => content?.parts ?? []))
    .flatMap(({ function_response: response }) => response ?? []);

const which = { id: 'q', name: 'ask', args: { question: 'Which?' } };
const confirmation = {
  id: 'q',
  name: 'adk_request_confirmation',
  args: { toolConfirmation: { hint: 'Delete all files?' } },
};

async function choose(
  page: { click: (role: string, name: string | RegExp) => Promise<void> },
  agent: string,
  shown = agent,
) {
  await page.click('button', /^Agent: /);
  const dialog = await screen.findByRole('dialog', { name: 'Agent' });
  await page.click('radio', shown);
  expect(await within(dialog).findByText(`The agent ${agent}`)).toBeVisible();
  await page.click('button', 'Choose');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(screen.getByRole('button', { name: `Agent: ${shown}` })).toBeVisible();
}

test('an agent is chosen for a new chat and while it goes on', async ({ api, page }) => {
  page.open('/');
  await choose(page, 'demo');
  await page.ask('Hello');
  await waitFor(() => expect(page.said('agent')).toEqual(['You said: "Hello"']));
  const [session] = api.askedFor('POST /sessions');
  expect(session?.body).toEqual({ name: 'Hello', agent: 'demo' });
  await choose(page, 'default', 'Default agent');
  await page.ask('And you?');
  await waitFor(() => expect(page.said('agent')).toHaveLength(2));
  expect(api.askedFor(RUNS).map(({ body }) => body.agent)).toEqual([undefined, 'default']);
  page.reload();
  expect(await screen.findByRole('button', { name: 'Agent: Default agent' })).toBeVisible();
});

test('a call that waits is answered in the chat', async ({ api, page }) => {
  const id = asks(api, { id: 'q', name: 'look_up', args: { what: 'weather' } });
  page.open(`/s/${id}`);
  const question = await screen.findByTestId('question');
  expect(question).toHaveTextContent('The agent waits for the answer of look_up.');
  await page.fill('Your answer', 'Sunny');
  await page.click('button', 'Answer');
  const answer = { id: 'q', name: 'look_up', response: { result: 'Sunny' } };
  await waitFor(() => expect(responses(api)).toEqual([answer]));
  await waitFor(() => expect(screen.queryByTestId('question')).toBeNull());
  await waitFor(() => expect(page.said('user')).toEqual(['Sunny']));
});

test('a call that needs a confirmation is shown, and approved', async ({ api, page }) => {
  const about = { id: 'call', name: 'delete_files', args: { path: '/home' } };
  const args = { originalFunctionCall: about, ...confirmation.args };
  const id = asks(api, about, { ...confirmation, args });
  page.open(`/s/${id}`);
  const question = await screen.findByTestId('question');
  expect(question).toHaveTextContent('Delete all files?');
  expect(question).toHaveTextContent('delete_filespath/home');
  expect(screen.getByTestId('calls')).toHaveTextContent('delete_files, Approval');
  await page.click('button', 'Approve');
  await waitFor(() => expect(page.said('user')).toEqual(['Approved']));
  const given = [{ id: 'q', response: { confirmed: true } }];
  await waitFor(() => expect(responses(api)).toMatchObject(given));
});

test('several questions are answered together', async ({ api, page }) => {
  const properties = { size: { type: 'integer' }, gift: { type: 'boolean' } };
  const schema = { type: 'object', required: ['size'], properties };
  const id = asks(
    api,
    { id: 'colour', name: 'ask', args: { question: 'Which colour?', choices: ['Red', 'Blue'] } },
    { id: 'more', name: 'ag_ui_interrupt', args: { message: 'The rest?', responseSchema: schema } },
  );
  page.open(`/s/${id}`);
  const send = await screen.findByRole('button', { name: 'Send 2 answers' });
  expect(send).toBeDisabled();
  expect(screen.getByText('2 missing')).toBeVisible();
  await page.click('button', 'Red');
  await page.fill('size', '3', 'spinbutton');
  await page.user.selectOptions(screen.getByRole('combobox', { name: 'gift' }), 'Yes');
  await page.click('button', 'Answer');
  expect(responses(api)).toEqual([]);
  await page.user.click(send);
  await waitFor(() => expect(screen.queryByTestId('questions')).toBeNull());
  await waitFor(() => expect(api.askedFor(RUNS)).toHaveLength(1));
  expect(responses(api)).toMatchObject([
    { id: 'colour', response: { result: 'Red' } },
    { id: 'more', response: { size: 3, gift: true } },
  ]);
});

test('a reader sees the agent’s question without a form', async ({ api, page }) => {
  const id = asks(api, which);
  Object.assign(api.session(id), { user_id: 'bob', access: 'read' });
  page.open(`/s/${id}`);
  expect(await screen.findByText(/^You can read this chat\./)).toBeVisible();
  expect(page.said('agent')).toHaveLength(1);
  expect(screen.queryByTestId('question')).toBeNull();
  expect(screen.queryByRole('textbox', { name: 'Message' })).toBeNull();
});

test('an answer that comes after another one is not sent, and the page says so', async ({
  api,
  page,
}) => {
  const id = asks(api, confirmation);
  await page.openSession(id);
  const held = api.hold('GET /sessions/{session_id}/thread');
  await page.click('button', 'Approve');
  await waitFor(() => expect(held.waiting()).toBe(1));
  const response = { id: 'q', name: confirmation.name, response: { confirmed: false } };
  api.start(id, [
    { author: 'user', content: { role: 'user', parts: [{ function_response: response }] } },
  ]);
  held.release();
  expect(await screen.findByText(ANSWERED)).toBeVisible();
  expect(api.askedFor(RUNS)).toEqual([]);
  await waitFor(() => expect(page.said('user')).toEqual(['Rejected']));
  expect(screen.queryByTestId('question')).toBeNull();
});

test('an answer is not sent behind another question', async ({ api, page }) => {
  const id = asks(api, which);
  api.answers = () => null;
  await page.openSession(id);
  const held = api.hold('GET /sessions/{session_id}/thread');
  await page.fill('Your answer', 'Blue');
  await page.click('button', 'Answer');
  await waitFor(() => expect(held.waiting()).toBe(1));
  api.start(id, [{ author: 'user', content: { role: 'user', parts: [{ text: 'Tell me' }] } }]);
  held.release();
  expect(await screen.findByText(/^The chat has gone on since the question\./)).toBeVisible();
  await waitFor(() => expect(screen.getByRole('textbox', { name: 'Message' })).toHaveValue('Blue'));
  expect(page.said('user')).toEqual(['Tell me']);
  expect(screen.queryByTestId('queue')).toBeNull();
  expect(api.askedFor(RUNS)).toEqual([]);
});

test('a new chat does not use a remembered agent that is not configured any more', async ({
  api,
  page,
}) => {
  localStorage.setItem('rethread.agent', 'gone');
  const held = api.hold('GET /v1/models');
  page.open('/');
  await page.ask('Hello');
  await waitFor(() => expect(held.waiting()).toBe(1));
  held.release();
  expect(await screen.findByText(/is not available\. The default agent is asked\.$/)).toBeVisible();
  await waitFor(() => expect(page.said('agent')).toEqual(['You said: "Hello"']));
  expect(api.askedFor('POST /sessions').map(({ body }) => body)).toEqual([{ name: 'Hello' }]);
  expect(screen.getByRole('button', { name: 'Agent: Default agent' })).toBeVisible();
});

test('a new chat begins with the default agent if the agents cannot be loaded', async ({
  api,
  page,
}) => {
  localStorage.setItem('rethread.agent', 'gone');
  api.on('GET /v1/models', () => {
    throw new TypeError('Failed to fetch');
  });
  page.open('/');
  await page.ask('Hello');
  expect(await screen.findByText(/^The agents could not be loaded\./)).toBeVisible();
  await waitFor(() => expect(page.said('agent')).toEqual(['You said: "Hello"']));
  expect(api.askedFor('POST /sessions').map(({ body }) => body)).toEqual([{ name: 'Hello' }]);
});
