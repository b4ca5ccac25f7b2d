// Automations in the settings.

import type { Automation } from 'rethread';
import { problem } from './fake-api';
import { expect, screen, test, waitFor, within } from './page';
import type { World } from './world';

const automation = (more: Partial<Automation> = {}): Automation => ({
  id: 'a1',
  name: 'Second look',
  on: { types: ['session.created'] },
  do: { agent: 'default', input: 'What about {{session_id}}' },
  status: 'active',
  disabled_reason: null,
  created_time: 1,
  updated_time: 1,
  ...more,
});

function serve(api: World, rule: Automation | null = null) {
  const state = { rule };
  const stored = () => state.rule ?? automation();
  api.on('GET /automations', () => {
    const data = state.rule ? [state.rule] : [];
    return [200, { data, meta: { next_cursor: null } }];
  });
  api.on('POST /automations', ({ body }) => {
    state.rule = automation(body as Partial<Automation>);
    return [201, { data: state.rule }];
  });
  api.on('GET /automations/{automation_id}', () => [200, { data: stored() }, { ETag: '"1"' }]);
  api.on('PATCH /automations/{automation_id}', ({ body }) => {
    const disabled_reason = body.status === 'disabled' ? 'paused' : null;
    state.rule = { ...stored(), ...(body as Partial<Automation>), disabled_reason };
    return [200, { data: state.rule }];
  });
  api.on('DELETE /automations/{automation_id}', () => {
    state.rule = null;
    return [204];
  });
  return state;
}

test('mistakes are shown at their fields', async ({ api, page }) => {
  serve(api);
  page.open('/settings/automations');
  expect(await screen.findByText('There are no automations yet.')).toBeVisible();
  await page.click('link', 'New automation');
  await page.fill('Name', 'Second look');
  await page.fill('Question', 'What about ');
  api.on('POST /automations', () =>
    problem(422, 'a rule is broken', [{ pointer: '/on/types', detail: 'needs a type' }]),
  );
  await page.click('button', 'Create automation');
  const when = screen.getByRole('group', { name: 'When' });
  await waitFor(() => expect(when).toHaveFocus());
  expect(when).toHaveAccessibleDescription(/^Needs a type\./);

  await page.click('checkbox', /A chat was created/);
  await page.fill('Ask the agent', 'nobody');
  api.on('POST /automations', () =>
    problem(422, 'a rule is broken', [
      { pointer: '/do/agent', detail: 'no agent that is configured' },
    ]),
  );
  await page.click('button', 'Create automation');
  const agent = screen.getByRole('textbox', { name: 'Ask the agent' });
  await waitFor(() => expect(agent).toHaveFocus());
  expect(agent).toHaveAccessibleDescription(/^No agent that is configured\./);
  expect(when).not.toHaveAccessibleDescription(/Needs a type/);
});

test('it is created, with a value of the event in its question', async ({ api, page }) => {
  serve(api);
  page.open('/settings/automations/new');
  await page.fill('Name', 'Second look');
  await page.fill('Question', 'What about ');
  await page.click('checkbox', /A chat was created/);
  await page.click('button', '{{session_id}}');
  const question = screen.getByRole('textbox', { name: 'Question' });
  expect(question).toHaveValue('What about {{session_id}}');
  expect(question).toHaveFocus();
  await page.click('button', 'Create automation');
  expect(await screen.findByRole('heading', { name: 'Second look' })).toBeVisible();
  expect(screen.getByText('A chat was created or imported → asks Default agent')).toBeVisible();
  expect(api.askedFor('POST /automations').map(({ body }) => body)).toEqual([
    {
      name: 'Second look',
      on: { types: ['session.created'], agents: [], session_ids: [], feedback_types: [] },
      do: {
        agent: 'default',
        input: 'What about {{session_id}}',
        session: 'same',
        on_active: 'reject',
      },
    },
  ]);
});

test('its last runs lead to their answers', async ({ api, page }) => {
  const run = { run_id: 'r1', session_id: 's1', event_type: 'session.created', time: 1 };
  serve(api, automation({ last_runs: [run] }));
  api.on('GET /sessions/{session_id}/runs/{run_id}', () => [
    200,
    {
      data: {
        id: 'r1',
        session_id: 's1',
        agent: 'default',
        mode: 'agent',
        status: 'completed',
        error: null,
        started_time: 1,
        ended_time: 2,
      },
    },
  ]);
  page.open('/settings/automations/a1');
  const shown = await screen.findByTestId('last-run');
  await waitFor(() => expect(shown).toHaveTextContent('Complete'));
  expect(shown).toHaveTextContent('A chat was created or imported');
  expect(within(shown).getByRole('link')).toHaveAttribute(
    'href',
    expect.stringMatching(/\/s\/s1\?at=r1$/),
  );
});

test('it is stopped, changed and started', async ({ api, page }) => {
  serve(api, automation());
  page.open('/settings/automations/a1');
  await page.click('button', 'Stop');
  expect(await screen.findByText('You have stopped it.')).toBeVisible();
  await page.click('link', 'Edit');
  expect(await screen.findByRole('textbox', { name: 'Question' })).toHaveValue(
    'What about {{session_id}}',
  );
  expect(screen.getByRole('checkbox', { name: /A chat was created/ })).toBeChecked();
  expect(screen.queryByRole('checkbox', { name: 'Bad (down)' })).toBeNull();
  await page.click('checkbox', /All about feedback/);
  await page.click('checkbox', 'Bad (down)');
  await page.click('radio', /In a new chat/);
  await page.click('button', 'Save');
  expect(
    await screen.findByText(/All about feedback \(down\) → asks Default agent in a new chat/),
  ).toBeVisible();
  await page.click('button', 'Start');
  expect(await screen.findByText('Active')).toBeVisible();
  const [stop, change, start] = api.askedFor('PATCH /automations/{automation_id}');
  expect([stop?.body, start?.body]).toEqual([{ status: 'disabled' }, { status: 'active' }]);
  expect(change?.headers.get('If-Match')).toBe('"1"');
  expect(change?.body).toMatchObject({
    on: { types: ['session.created', 'feedback.*'], feedback_types: ['down'] },
    do: { session: 'new' },
  });
});

test('it is deleted after a question', async ({ api, page }) => {
  serve(api, automation());
  page.open('/settings/automations/a1');
  await page.click('button', 'Delete');
  const dialog = await screen.findByRole('dialog', { name: 'Delete automation?' });
  expect(api.askedFor('DELETE /automations/{automation_id}')).toEqual([]);
  await page.user.click(within(dialog).getByRole('button', { name: 'Delete' }));
  expect(await screen.findByText('There are no automations yet.')).toBeVisible();
});
