// The message field: the agent in it, and beside it what went wrong.

import { problem } from './fake-api';
import { expect, screen, test, waitFor, within } from './page';

const composer = () => document.querySelector<HTMLElement>('.composer') as HTMLElement;

test('the agent is chosen in the composer', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip', agent: 'demo' });
  for (const [path, agent] of [
    ['/', 'Default agent'],
    [`/s/${id}`, 'demo'],
  ] as const) {
    page.open(path);
    const choice = await screen.findByRole('button', { name: `Agent: ${agent}` });
    expect(composer()).toContainElement(choice);
    expect(screen.getAllByTestId('agent').length).toBe(1);
  }
});

test('the default agent has one name', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.log(id);
  await page.openSession(id);
  await page.ask('Who are you?');
  expect(await screen.findByRole('article', { name: 'Default agent' })).toBeVisible();
  await page.click('button', 'Agent: Default agent');
  expect(await screen.findByRole('radio', { name: /^Default agent/ })).toBeChecked();
  await page.click('button', 'Cancel');
  await page.choose('Chat settings');
  const dialog = await screen.findByRole('dialog', { name: 'Chat settings' });
  expect(await within(dialog).findByText('Default agent')).toBeVisible();
});

test('why a question was refused is told beside it, until the next attempt', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Trip' });
  let refusals = 1;
  api.on('POST /sessions/{session_id}/runs', (_, next) =>
    refusals-- > 0 ? problem(422, 'No such agent.') : next(),
  );
  await page.openSession(id);
  await page.ask('Where?');
  await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('No such agent.'));
  expect(composer()).toContainElement(screen.getByRole('alert'));
  expect(screen.queryByTestId('toast')).toBeNull();
  await page.user.keyboard('{Enter}');
  await waitFor(() => expect(page.said('agent')).toEqual(['You said: "Where?"']));
  expect(screen.queryByRole('alert')).toBeNull();
});

test('so are a new chat that cannot begin and a file that cannot be added', async ({
  api,
  page,
}) => {
  api.on('POST /sessions', () => problem(403, 'You have too many sessions.'));
  page.open('/');
  await page.ask('Where?');
  await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('too many sessions'));
  expect(await screen.findByRole('textbox', { name: 'Message' })).toHaveValue('Where?');
  await page.click('button', 'Dismiss');
  expect(screen.queryByRole('alert')).toBeNull();
  const large = new File(['x'], 'film.mp4');
  Object.defineProperty(large, 'size', { value: 11 << 20 });
  await page.user.upload(screen.getByLabelText('Files to attach'), large);
  expect(screen.getByRole('alert')).toHaveTextContent('“film.mp4” is larger than 10 MB.');
  expect(screen.queryByTestId('toast')).toBeNull();
});

test('an answer that cannot be stopped is told beside the button', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.answers = () => null;
  api.on('POST /sessions/{session_id}/runs/{run_id}/cancel', () => problem(403, 'Not yours.'));
  await page.openSession(id);
  await page.ask('Where?');
  await page.click('button', 'Stop');
  await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('Not yours.'));
});

test('Enter sends all that was written, at once and only once', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  await page.openSession(id);
  const field = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
  for (const text of ['Whe', 'Where?']) {
    field.value = text;
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }
  for (let i = 0; i < 2; i++) {
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  }
  await waitFor(() => expect(page.said('agent')).toEqual(['You said: "Where?"']));
  expect(page.said('user')).toEqual(['Where?']);
});

test('what is written while a new chat is created goes with it', async ({ api, page }) => {
  let create = () => {};
  const created = new Promise<void>((resolve) => {
    create = resolve;
  });
  api.on('POST /sessions', async (_, next) => {
    await created;
    return next();
  });
  page.open('/');
  await page.ask('Where?');
  await page.fill('Message', 'And when?');
  create();
  await waitFor(() => expect(page.said('agent')).toEqual(['You said: "Where?"']));
  expect(screen.getByRole('textbox', { name: 'Message' })).toHaveValue('And when?');
});

test('a question that fails comes back before what was written since', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  let refuse = () => {};
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  api.on('POST /sessions/{session_id}/runs', async () => {
    await refused;
    return problem(422, 'No such agent.');
  });
  await page.openSession(id);
  await page.ask('Where?');
  await page.fill('Message', 'And when?');
  refuse();
  const field = screen.getByRole('textbox', { name: 'Message' });
  await waitFor(() => expect(field).toHaveValue('Where?\n\nAnd when?'));
});
