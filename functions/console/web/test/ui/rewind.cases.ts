// The dialog of a rewind: what it would change, before and after.

import { problem } from './fake-api';
import { expect, screen, test, waitFor, within } from './page';
import { rewinding } from './rewinding';

const STATE = {
  days: 5,
  city: 'Porto',
  trip: { days: 5, stops: { first: 'Lisbon' } },
  'user:x': 1,
};

test('a rewind lists state and artifacts as they are and as they will be', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Trip' });
  const [, second = ''] = api.say(id, ['Where?', 'Here.'], ['When?', 'Now.']);
  rewinding(api, id, {
    now: STATE,
    restored: {
      days: 4,
      city: null,
      budget: 300,
      trip: { days: 4, stops: { first: 'Lisbon', second: 'Faro' } },
    },
    versions: { 'plan.md': 3, 'map.png': 0 },
    artifacts: { 'plan.md': 4, 'map.png': 1 },
  });
  api.log(id)[0] = { ...api.log(id)[0], actions: { artifact_delta: { 'plan.md': 1 } } } as never;
  await page.openSession(id);
  await rewindTo(page, 'When?');
  const dialog = await screen.findByRole('dialog', { name: 'Rewind to before this question?' });
  const rows = [...(await within(dialog).findByTestId('restored')).children];
  expect(rows.map((row) => row.textContent?.trim())).toEqual([
    'days 5 → 4',
    'city Porto removed',
    'budget 300 added',
    'trip days 5 → 4stops › second Faro added',
    'plan.md version 4 → version 2',
    'map.png version 1 removed',
  ]);
  expect(within(dialog).getAllByRole('img', { name: 'becomes' }).length).toBe(3);
  await page.click('button', 'Rewind');
  await waitFor(() => expect(api.askedFor('POST /sessions/{session_id}/rewind').length).toBe(2));
  expect(api.askedFor('POST /sessions/{session_id}/rewind')[1]?.body).toMatchObject({
    rewind_before_invocation_id: second,
    dry_run: false,
  });
});

test('what is long is folded, and shown whole when it is unfolded', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.say(id, ['Where?', 'Here.'], ['When?', 'Now.']);
  const [old, many] = ['old '.repeat(100), Array.from({ length: 30 }, (_, i) => i)];
  rewinding(api, id, { now: { notes: 'new', many: [1] }, restored: { notes: old, many } });
  await page.openSession(id);
  await rewindTo(page, 'When?');
  const [notes, list] = [...(await screen.findByTestId('restored')).children] as HTMLElement[];
  const summary = notes?.querySelector('summary') as HTMLElement;
  expect(summary.textContent).toBe('new → old old old old old old …');
  expect(within(notes as HTMLElement).getByText(old.trim())).not.toBeVisible();
  await page.user.click(summary);
  expect(within(notes as HTMLElement).getByText(old.trim())).toBeVisible();
  expect(list?.querySelector('summary')?.textContent).toMatch(/^\[1\] → \[0,1,2/);
});

test('without changes nothing else is asked for; a failure can be checked again', async ({
  api,
  page,
}) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.say(id, ['Where?', 'Here.'], ['When?', 'Now.']);
  rewinding(api, id, { now: STATE, restored: {} });
  await page.openSession(id);
  await rewindTo(page, 'When?');
  expect(await screen.findByText('State and artifacts stay as they are.')).toBeVisible();
  expect(api.askedFor('GET /sessions/{session_id}/state')).toEqual([]);
  expect(api.askedFor('GET /sessions/{session_id}/artifacts')).toEqual([]);
  await page.click('button', 'Cancel');

  rewinding(api, id, { now: STATE, restored: { days: 4 } });
  let fails = true;
  api.on('GET /sessions/{session_id}/state', (_, next) => (fails ? problem(403, 'No.') : next()));
  await rewindTo(page, 'When?');
  expect(await screen.findByRole('alert')).toHaveTextContent('No.');
  expect(screen.getByRole('button', { name: 'Rewind' })).toBeDisabled();
  fails = false;
  await page.click('button', 'Check again');
  expect((await screen.findByTestId('restored')).textContent).toBe('days 5 → 4');
});

test('versions of artifacts are counted from 1', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  api.say(id, ['Where?', 'Here.']);
  const answer = api.log(id)[1];
  api.log(id)[1] = { ...answer, actions: { artifact_delta: { 'plan.md': 0 } } } as never;
  await page.openSession(id);
  expect(await screen.findByTestId('artifact-chip')).toHaveTextContent('plan.mdversion 1');
});

async function rewindTo(page: { user: { click(e: Element): Promise<void> } }, text: string) {
  const message = screen
    .getAllByTestId('message')
    .find((one) => one.textContent?.includes(text)) as HTMLElement;
  await page.user.click(within(message).getByRole('button', { name: 'More' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Rewind to before this question' }));
}
