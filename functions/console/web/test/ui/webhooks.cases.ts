// Webhooks in the settings.

import type { Delivery, Webhook } from 'rethread';
import { problem } from './fake-api';
import { expect, screen, test, waitFor, within } from './page';
import type { World } from './world';

const URL = 'https://shop.example/hooks';

const webhook = (more: Partial<Webhook> = {}): Webhook => ({
  id: 'w1',
  url: URL,
  description: '',
  types: [],
  agents: [],
  session_ids: [],
  status: 'active',
  disabled_reason: null,
  created_time: 1,
  updated_time: 1,
  ...more,
});

const delivery = (id: string, more: Partial<Delivery> = {}): Delivery => ({
  id,
  webhook_id: 'w1',
  event_id: `event of ${id}`,
  event_type: 'session.created',
  session_id: 's1',
  state: 'delivered',
  tries: 1,
  attempts: [{ time: 1, duration_ms: 5, status: 204, reason: null }],
  next_attempt_time: null,
  created_time: 1,
  ...more,
});

/** Serves one webhook and its deliveries, the newest first. */
function serve(api: World, hook: Webhook | null = null, deliveries: Delivery[] = []) {
  const state = { hook, version: 1, deliveries };
  const stored = () => state.hook ?? webhook();
  api.on('GET /webhooks', () => {
    const data = state.hook ? [state.hook] : [];
    return [200, { data, meta: { next_cursor: null } }];
  });
  api.on('POST /webhooks', ({ body }) => {
    state.hook = webhook({ ...body, description: body.description ?? '' });
    return [201, { data: state.hook }];
  });
  api.on('GET /webhooks/{webhook_id}', () => [
    200,
    { data: stored() },
    { ETag: `"${state.version}"` },
  ]);
  api.on('PATCH /webhooks/{webhook_id}', ({ body, headers }) => {
    const expected = headers.get('If-Match');
    if (expected && expected !== `"${state.version}"`) return problem(412, 'another version');
    const disabled_reason = body.status === 'disabled' ? 'paused' : null;
    state.hook = { ...stored(), ...(body as Partial<Webhook>), disabled_reason };
    state.version++;
    return [200, { data: state.hook }];
  });
  api.on('DELETE /webhooks/{webhook_id}', () => {
    state.hook = null;
    return [204];
  });
  api.on('GET /webhooks/{webhook_id}/deliveries', ({ query: { cursor = '0', limit = '50' } }) => {
    const end = Number(cursor) + Number(limit);
    const next_cursor = end < state.deliveries.length ? String(end) : null;
    return [200, { data: state.deliveries.slice(Number(cursor), end), meta: { next_cursor } }];
  });
  return state;
}

test('mistakes are shown at their fields', async ({ api, page }) => {
  serve(api);
  page.open('/settings/webhooks');
  expect(await screen.findByText('There are no webhooks yet.')).toBeVisible();
  await page.click('link', 'New webhook');
  const heading = await screen.findByRole('heading', { name: 'New webhook' });
  await waitFor(() => expect(heading).toHaveFocus());
  const address = await screen.findByRole('textbox', { name: 'Address' });
  const agents = screen.getByRole('textbox', { name: 'Agents' });

  api.on('POST /webhooks', () =>
    problem(422, 'a rule is broken', [{ pointer: '/url', detail: 'must be an https address' }]),
  );
  await page.fill('Address', 'ftp://example.com/x');
  await page.click('button', 'Create webhook');
  await waitFor(() => expect(address).toHaveFocus());
  expect(address).toBeInvalid();
  expect(address).toHaveAccessibleDescription(/^Must be an https address\. An https/);

  api.on('POST /webhooks', () =>
    problem(422, 'a rule is broken', [
      { pointer: '/agents/1', detail: 'is no name of an agent' },
      { pointer: '/secret', detail: 'is too short' },
    ]),
  );
  await page.fill('Address', URL);
  await page.fill('Agents', 'one\na/b/c');
  await page.click('button', 'Create webhook');
  await waitFor(() => expect(agents).toHaveFocus());
  expect(address).toBeValid();
  expect(screen.getByRole('textbox', { name: 'Secret' })).toHaveAccessibleDescription(
    /^Is too short\./,
  );
  expect(screen.getByRole('alert')).toHaveTextContent('The form has mistakes.');
  expect(api.askedFor('POST /webhooks').map(({ body }) => body.agents)).toEqual([
    [],
    ['one', 'a/b/c'],
  ]);
});

test('a webhook is created with what was chosen', async ({ api, page }) => {
  serve(api);
  page.open('/settings/webhooks/new');
  await page.fill('Address', URL);
  await page.fill('Description', 'To the shop');
  await page.click('checkbox', /All about answers/);
  expect(screen.getByRole('checkbox', { name: /An answer failed/ })).toBeDisabled();
  expect(screen.getByRole('checkbox', { name: /An answer failed/ })).toBeChecked();
  await page.click('checkbox', /A chat was created/);
  await page.click('button', 'Create webhook');
  expect(await screen.findByRole('heading', { name: 'To the shop' })).toBeVisible();
  expect(screen.getByText('A chat was created or imported, All about answers')).toBeVisible();
  expect(api.askedFor('POST /webhooks').map(({ body }) => body)).toEqual([
    {
      url: URL,
      description: 'To the shop',
      types: ['session.created', 'run.*'],
      agents: [],
      session_ids: [],
    },
  ]);
});

test('a second press of the button makes no second webhook', async ({ api, page }) => {
  serve(api);
  const held = api.hold('POST /webhooks');
  page.open('/settings/webhooks/new');
  await page.fill('Address', URL);
  await page.user.dblClick(screen.getByRole('button', { name: 'Create webhook' }));
  await waitFor(() => expect(held.waiting()).toBe(1));
  await page.click('button', 'Create webhook');
  held.release();
  expect(await screen.findByRole('heading', { name: 'Webhook' })).toBeVisible();
  expect(api.askedFor('POST /webhooks')).toHaveLength(1);
});

test('the secret is shown on request, and replaced', async ({ api, page }) => {
  serve(api, webhook());
  const secret = { secret: 'whsec_old', created_time: 1, previous: [] };
  api.on('GET /webhooks/{webhook_id}/secret', () => [200, { data: secret }]);
  api.on('POST /webhooks/{webhook_id}/secret/rotate', () => [
    200,
    { data: { secret: 'whsec_new', created_time: 2, previous: [{ expires_time: 3 }] } },
  ]);
  page.open('/settings/webhooks/w1');
  await page.click('button', 'Show the secret');
  expect(await screen.findByTestId('secret')).toHaveTextContent('whsec_old');
  await page.click('button', 'Replace…');
  const dialog = await screen.findByRole('dialog', { name: 'Replace the secret' });
  expect(dialog).toHaveTextContent('24 hours');
  await page.user.click(within(dialog).getByRole('button', { name: 'Replace' }));
  await waitFor(() => expect(screen.getByTestId('secret')).toHaveTextContent('whsec_new'));
  expect(screen.getByText(/^An earlier secret signs messages too/)).toBeVisible();
  const rotations = api.askedFor('POST /webhooks/{webhook_id}/secret/rotate');
  expect(rotations.map(({ body }) => body)).toEqual([{ revoke: false }]);
  await page.click('button', 'Hide the secret');
  expect(screen.queryByTestId('secret')).toBeNull();
});

test('a test is listed when it was delivered', async ({ api, page }) => {
  const state = serve(api, webhook());
  api.on('POST /webhooks/{webhook_id}/test', () => {
    const sent = delivery('d1', { event_type: 'webhook.test' });
    state.deliveries.unshift(sent);
    return [202, { data: { ...sent, state: 'pending', tries: 0, attempts: [] } }];
  });
  page.open('/settings/webhooks/w1');
  expect(await screen.findByText(/^Nothing was sent in the last 7 days/)).toBeVisible();
  await page.click('button', 'Send a test');
  const listed = await screen.findByTestId('delivery');
  expect(listed).toHaveTextContent(/^A testDelivered.*last answer: 204/);
  expect(screen.getByTestId('toast')).toHaveTextContent('A test is being sent.');
  expect(within(listed).getByRole('link')).toHaveAttribute(
    'href',
    expect.stringMatching(/\/settings\/webhooks\/w1\/deliveries\/d1$/),
  );
});

test('a delivery is shown in detail, and sent again', async ({ api, page }) => {
  serve(api, webhook());
  const event = { specversion: '1.0', type: 'session.created', data: { session_id: 's1' } };
  api.on('GET /webhooks/{webhook_id}/deliveries/{delivery_id}', () => [
    200,
    { data: delivery('d1', { event }) },
  ]);
  api.on('POST /webhooks/{webhook_id}/deliveries/{delivery_id}/replay', () => {
    const failed = { time: 9, duration_ms: 2, status: 500, reason: 'status' };
    const attempts = [...delivery('d1').attempts, failed];
    const next = { state: 'pending', next_attempt_time: Date.now() + 1e9 } as const;
    return [202, { data: delivery('d1', { tries: 2, attempts, ...next }) }];
  });
  page.open('/settings/webhooks/w1/deliveries/d1');
  expect(await screen.findByTestId('delivery-state')).toHaveTextContent('Delivered');
  expect(screen.getAllByTestId('attempt')).toHaveLength(1);
  expect(JSON.parse(screen.getByTestId('delivery-body').textContent ?? '')).toEqual(event);
  await page.click('button', 'Send again');
  await waitFor(() => expect(screen.getByTestId('delivery-state')).toHaveTextContent('Pending'));
  const [newest, first] = screen.getAllByTestId('attempt');
  expect(newest).toHaveTextContent('Failed500 (status)');
  expect(first).toHaveTextContent('Accepted204');
  expect(JSON.parse(screen.getByTestId('delivery-body').textContent ?? '')).toEqual(event);
});

test('it is paused and activated', async ({ api, page }) => {
  serve(api, webhook());
  page.open('/settings/webhooks/w1');
  await page.click('button', 'Pause');
  expect(await screen.findByText(/^You have paused it\./)).toBeVisible();
  expect(screen.getByRole('button', { name: 'Send a test' })).toBeDisabled();
  await page.click('button', 'Activate');
  await waitFor(() => expect(screen.getByRole('button', { name: 'Send a test' })).toBeEnabled());
  expect(api.askedFor('PATCH /webhooks/{webhook_id}').map(({ body }) => body)).toEqual([
    { status: 'disabled' },
    { status: 'active' },
  ]);
});

test('it is changed from what it was', async ({ api, page }) => {
  serve(api, webhook({ description: 'To the shop', types: ['run.*'] }));
  page.open('/settings/webhooks/w1');
  await page.click('link', 'Edit');
  expect(await screen.findByRole('textbox', { name: 'Address' })).toHaveValue(URL);
  expect(screen.getByRole('checkbox', { name: /All about answers/ })).toBeChecked();
  await page.fill('Description', '');
  await page.click('button', 'Save');
  expect(await screen.findByRole('heading', { name: 'Webhook' })).toBeVisible();
  const [change] = api.askedFor('PATCH /webhooks/{webhook_id}');
  expect(change?.headers.get('If-Match')).toBe('"1"');
  expect(change?.body).toMatchObject({ url: URL, description: '', types: ['run.*'] });
  expect(change?.body).not.toHaveProperty('secret');
});

test('what another tab has changed is shown, and not overwritten', async ({ api, page }) => {
  const state = serve(api, webhook());
  page.open('/settings/webhooks/w1/edit');
  await page.fill('Description', 'Mine');
  state.version++;
  state.hook = webhook({ description: 'Theirs' });
  await page.click('button', 'Save');
  expect(await screen.findByRole('alert')).toHaveTextContent('changed elsewhere');
  expect(screen.getByRole('textbox', { name: 'Description' })).toHaveValue('Mine');
  expect(state.hook.description).toBe('Theirs');
  await page.click('link', 'Cancel');
  expect(await screen.findByRole('heading', { name: 'Theirs' })).toBeVisible();
});

test('it is deleted after a question', async ({ api, page }) => {
  serve(api, webhook());
  page.open('/settings/webhooks/w1');
  await page.click('button', 'Delete');
  const dialog = await screen.findByRole('dialog', { name: 'Delete webhook?' });
  expect(dialog).toHaveTextContent(`Nothing more is sent to ${URL}.`);
  expect(api.askedFor('DELETE /webhooks/{webhook_id}')).toEqual([]);
  await page.user.click(within(dialog).getByRole('button', { name: 'Delete' }));
  expect(await screen.findByText('There are no webhooks yet.')).toBeVisible();
  expect(screen.getByTestId('toast')).toHaveTextContent('The webhook was deleted.');
});

test('deliveries are read page by page', async ({ api, page }) => {
  serve(
    api,
    webhook(),
    Array.from({ length: 120 }, (_, n) => delivery(`d${n}`)),
  );
  page.open('/settings/webhooks/w1');
  for (const shown of [50, 100, 120]) {
    await waitFor(() => expect(screen.getAllByTestId('delivery')).toHaveLength(shown));
    if (shown < 120) await page.click('button', 'Show more');
  }
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
  const pages = api.askedFor('GET /webhooks/{webhook_id}/deliveries');
  expect(pages.map(({ query }) => query.cursor)).toEqual([undefined, '50', '100']);
});
