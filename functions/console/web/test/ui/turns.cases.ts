// The turns of a chat, for developers.

import { options, type VNode } from 'preact';
import { problem } from './fake-api';
import { endRun, having, rewindTo, serveLogs } from './logs';
import { expect, type Page, screen, test, vi, waitFor, within } from './page';
import { saying, type World } from './world';

const rows = () => screen.queryAllByTestId('turn');
const summary = (row: HTMLElement | undefined) => {
  const found = row?.querySelector('summary');
  if (!found) throw new Error('there is no such turn');
  return found;
};
const steps = (row: HTMLElement) =>
  within(within(row).getByTestId('waterfall'))
    .getAllByRole('listitem')
    .map((step) => [
      step.querySelector('.step-name')?.textContent,
      step.querySelector('.step-time')?.textContent,
    ]);

/** Opens a turn, and waits until its events are shown. */
async function open(page: Page, row: HTMLElement | undefined): Promise<HTMLElement> {
  await page.user.click(summary(row));
  await waitFor(() => expect(row?.querySelector('.turn-body')).toBeTruthy());
  if (!row) throw new Error('unreachable');
  return row;
}

const AT = Date.parse('2026-01-02T03:04:05Z');

/** A chat whose first turn calls a tool and changes the state, and whose second one fails. */
function prepare(api: World) {
  serveLogs(api);
  const { id } = api.createSession({ name: 'A trip' });
  const at = (after: number) => ({ created_time: AT + after });
  api.append(id, 'before', {
    ...at(-5000),
    author: 'system',
    actions: { state_delta: { city: 'Porto', days: 3 } },
  });
  api.append(id, 'one', { ...saying('user', 'Where to?'), ...at(0) });
  const call = { id: 'c', name: 'look_up', args: { place: 'Lisbon' } };
  api.append(id, 'one', { ...having('demo', { function_call: call }), ...at(700) });
  const response = { id: 'c', name: 'look_up', response: { error: 'closed' } };
  api.append(id, 'one', { ...having('demo', { function_response: response }), ...at(1900) });
  api.append(id, 'one', {
    ...saying('demo', 'To Lisbon.'),
    ...at(2500),
    actions: { state_delta: { city: 'Lisbon', days: null, 'temp:x': 1 } },
    usage_metadata: { input_tokens: 1000, output_tokens: 200 },
    created_by: { user_id: 'alice', service: 'backend' },
  });
  endRun(api, id, 'one', { started_time: AT + 20, ended_time: AT + 2620 });
  api.append(id, 'two', { ...saying('user', 'And back?'), ...at(9000) });
  const error = { code: 'agent_failed', message: 'It fell over.' };
  endRun(api, id, 'two', {
    status: 'failed',
    error,
    started_time: AT + 9000,
    ended_time: AT + 9100,
  });
  return id;
}

test('a turn tells its run, its changes of the state, its writers and its events', async ({
  api,
  page,
}) => {
  const id = prepare(api);
  page.open(`/s/${id}/turns`);
  await waitFor(() => expect(rows()).toHaveLength(3));
  expect(rows().map((row) => row.querySelector('.turn-title')?.textContent)).toEqual([
    'And back?',
    'Where to?',
    'system',
  ]);
  const [, row] = rows();
  if (!row) throw new Error('unreachable');
  expect(summary(row)).toHaveTextContent(/error.*2\.6 s.*first output stored after 680 ms/);
  await open(page, row);
  expect(page.path).toBe(`/s/${id}/turns?turn=one`);
  expect(steps(row)).toEqual([
    ['Started', '+20 ms'],
    ['First output stored', '+700 ms'],
    ['look_up', '+700 ms, took 1.2 s'],
    ['Ended', '+2.6 s'],
  ]);
  expect(within(row).getByRole('list', { name: 'Errors' })).toHaveTextContent('look_up: closed');
  const writers = within(row).getByRole('region', { name: 'Writers' });
  expect(
    within(writers)
      .getAllByRole('listitem')
      .map((one) => one.textContent),
  ).toEqual([
    'user client not recorded',
    'demo client not recorded',
    'demo sent by the service backend',
  ]);
  const state = within(row).getByRole('region', { name: 'State' });
  expect([...state.querySelectorAll('dl > div')].map((one) => one.textContent)).toEqual([
    'cityBefore: PortoAfter: Lisbon',
    'daysBefore: 3After: removed',
  ]);
  const events = within(row).getAllByTestId('event');
  expect(events.map((one) => one.querySelector('summary')?.textContent)).toEqual([
    '#2usertext',
    '#3demofunction_call',
    '#4demofunction_response',
    '#5demotext, state_delta',
    '#6systemrun',
  ]);
  const [first] = events;
  const raw = JSON.stringify(api.log(id)[1], null, 2);
  await page.user.click(first?.querySelector('summary') as HTMLElement);
  await waitFor(() => expect(first?.querySelector('pre')).toHaveTextContent('"seq": 2'));
  expect(first?.querySelector('pre')?.textContent).toBe(raw);
  await page.user.click(within(first as HTMLElement).getByRole('button', { name: 'Copy JSON' }));
  expect(await navigator.clipboard.readText()).toBe(raw);
});

test('a turn tells how long its input waited, and what its agent was sent', async ({
  api,
  page,
}) => {
  serveLogs(api);
  const { id } = api.createSession({ name: 'Waited' });
  api.append(id, 'one', { ...saying('user', 'Where to?'), created_time: AT });
  endRun(api, id, 'one', {
    queued_time: AT - 4000,
    started_time: AT,
    ended_time: AT + 1000,
  });
  const body = '{"model":"m","tools":[]}';
  const sent = {
    method: 'POST',
    path: '/v1/responses',
    sent_time: AT + 20,
    expires_time: AT + 9e8,
  };
  let kept = false;
  api.on('GET /sessions/{session_id}/runs/{run_id}/requests', () => {
    if (!kept) return problem(404, 'no such run');
    const data = [
      { ...sent, number: 1, body, size: body.length },
      { ...sent, number: 2, body: '{"model', size: 300_000, cut: true as const },
    ];
    return [200, { data, meta: { next_cursor: null } }];
  });
  page.open(`/s/${id}/turns`);
  await waitFor(() => expect(rows()).toHaveLength(1));
  const row = await open(page, rows()[0]);
  expect(steps(row)).toEqual([
    ['Queued', '+0 ms, waited 4.0 s'],
    ['Started', '+4.0 s'],
    ['First output stored', 'not recorded'],
    ['Ended', '+5.0 s'],
  ]);
  const requests = within(row).getByRole('region', { name: 'Requests' });
  const asked = () => api.askedFor('GET /sessions/{session_id}/runs/{run_id}/requests').length;
  expect(asked()).toBe(0);
  await page.user.click(within(requests).getByRole('button', { name: 'Show' }));
  await waitFor(() => expect(within(requests).getByRole('alert')).toBeVisible());
  kept = true;
  await page.user.click(within(requests).getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(within(requests).getAllByTestId('sent')).toHaveLength(2));
  const [first, second] = within(requests).getAllByTestId('sent');
  await page.user.click(summary(first));
  await waitFor(() => expect(first?.querySelector('pre')).toHaveTextContent('"tools": []'));
  await page.user.click(within(first as HTMLElement).getByRole('button', { name: 'Copy body' }));
  expect(await navigator.clipboard.readText()).toBe(body);
  expect(summary(second)).toHaveTextContent('POST /v1/responses300,000 bytes, cut');
  await page.user.click(summary(second));
  await waitFor(() => expect(second?.querySelector('pre')).toHaveTextContent('{"model'));
});

test('of an answer that was stored at the end of its run, no first output is told', async ({
  api,
  page,
}) => {
  serveLogs(api);
  const { id } = api.createSession({ name: 'At once' });
  api.append(id, 'one', { ...saying('user', 'Where to?'), created_time: AT });
  api.append(id, 'one', { ...saying('demo', 'Lisbon.'), created_time: AT + 3000 });
  endRun(api, id, 'one', { started_time: AT, ended_time: AT + 3000, agent: '' });
  page.open(`/s/${id}/turns`);
  await waitFor(() => expect(rows()).toHaveLength(1));
  const row = await open(page, rows()[0]);
  expect(summary(row)).toHaveTextContent('3.0 s');
  expect(summary(row)).not.toHaveTextContent('first output');
  expect(within(row).getByRole('region', { name: 'Run' })).toHaveTextContent('Default agent');
  expect(steps(row)).toEqual([
    ['Started', '+0 ms'],
    ['First output stored', '+3.0 s'],
    ['Ended', '+3.0 s'],
  ]);
});

test('a run links to its trace where the deployer says where traces are', async ({ api, page }) => {
  serveLogs(api);
  const { id } = api.createSession({ name: 'Traced' });
  api.append(id, 'one', saying('user', 'Where to?'));
  const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';
  endRun(api, id, 'one', { trace_id });
  const trace_url = 'https://traces.example/t/{trace_id}';
  for (const [opening, links] of [
    [{}, []],
    [{ trace_url }, [`https://traces.example/t/${trace_id}`]],
  ] as const) {
    page.open(`/s/${id}/turns`, opening);
    await waitFor(() => expect(rows()).toHaveLength(1));
    const row = await open(page, rows()[0]);
    const run = within(row).getByRole('region', { name: 'Run' });
    const found = within(run).queryAllByRole('link', { name: 'Trace' });
    expect(found.map((link) => link.getAttribute('href'))).toEqual(links);
  }
});

test('guests are not offered what the agent was sent, admins are', async ({ api, page }) => {
  serveLogs(api);
  for (const [access, offered] of [
    ['read', false],
    ['write', false],
    ['admin', true],
  ] as const) {
    const { id } = api.createSession({ name: access, access });
    api.append(id, 'one', saying('user', 'Where to?'));
    endRun(api, id, 'one', {});
    page.open(`/s/${id}/turns`);
    await waitFor(() => expect(rows()).toHaveLength(1));
    const row = await open(page, rows()[0]);
    expect(within(row).getByRole('region', { name: 'Run' })).toBeVisible();
    expect(within(row).queryAllByRole('region', { name: 'Requests' })).toHaveLength(
      offered ? 1 : 0,
    );
  }
});

test('without a run, times are not recorded, and rewinds stand between the turns', async ({
  api,
  page,
}) => {
  serveLogs(api);
  const { id } = api.createSession({ name: 'Rewound' });
  const [first = ''] = api.say(id, ['One', 'A1']);
  const [second = ''] = api.say(id, ['Two', 'A2']);
  rewindTo(api, id, second);
  api.say(id, ['Three', 'A3']);
  await page.openSession(id);
  await page.click('button', 'Side panel');
  await page.click('tab', 'Turns');
  await waitFor(() => expect(rows()).toHaveLength(3));
  const shown = rows().map((row) => row.querySelector<HTMLElement>('.turn')?.dataset.hidden);
  expect(shown).toEqual(['false', 'true', 'false']);
  expect(within(screen.getByTestId('turns')).getByText('Rewound')).toBeVisible();
  const row = rows()[2] as HTMLElement;
  expect(row.dataset.turn).toBe(first);
  await open(page, row);
  expect(within(row).getByText('No run is recorded here for this turn.')).toBeVisible();
  expect(steps(row).map(([, time]) => time)).toEqual(['not recorded', '+0 ms', 'not recorded']);
  expect(screen.getByRole('link', { name: 'Wide view' })).toHaveAttribute(
    'href',
    expect.stringMatching(`/s/${id}/turns\\?turn=${first}$`),
  );
});

test('tokens have costs by the prices of the deployer, and none without', async ({ api, page }) => {
  const id = prepare(api);
  const usage_metadata = { prompt_tokens: 4000, completion_tokens: 1000 };
  api.append(id, 'three', { ...saying('other', 'Dear.'), usage_metadata, model: 'large' });
  api.append(id, 'four', { ...saying('unpriced', 'Who knows.'), usage_metadata });
  page.open(`/s/${id}/turns`);
  await waitFor(() => expect(rows()).toHaveLength(5));
  expect(screen.getByTestId('total')).toHaveTextContent('All 5 turns9,000 in · 2,200 out (tokens)');
  expect(screen.queryByText(/\$/)).toBeNull();
  const prices = { demo: { input: 1, output: 10 }, large: { input: 5, output: 20 } };
  page.open(`/s/${id}/turns`, { prices });
  await waitFor(() => expect(rows()).toHaveLength(5));
  expect(screen.getByTestId('total')).toHaveTextContent('at least $0.043');
  const costs = (row: HTMLElement) =>
    [...row.querySelectorAll('.turn-facts > span')]
      .map((one) => one.textContent)
      .find((text) => text?.includes('$'));
  expect(rows().map(costs)).toEqual([undefined, '$0.040', undefined, '$0.0030', undefined]);
});

test('only the newest turns are read, and older ones when they are wanted', async ({
  api,
  page,
}) => {
  serveLogs(api);
  const { id } = api.createSession({ name: 'Long' });
  const count = 130;
  const said = api.say(
    id,
    ...Array.from({ length: count }, (_, i): [string, string] => [`Q${i}`, `A${i}`]),
  );
  page.open(`/s/${id}/turns`);
  await waitFor(() => expect(rows()).toHaveLength(50));
  expect(screen.getByTestId('total')).toHaveTextContent('The newest 50 turns');
  expect(api.askedFor('GET /sessions/{session_id}/events')).toHaveLength(1);
  await page.click('button', 'Older turns');
  await waitFor(() => expect(rows()).toHaveLength(100));

  page.open(`/s/${id}/turns?turn=${said[40]}`);
  await waitFor(() => expect(document.querySelector(`[data-turn="${said[40]}"]`)).toBeTruthy());
  const wanted = document.querySelector<HTMLElement>(`[data-turn="${said[40]}"]`);
  await waitFor(() => expect(summary(wanted ?? undefined)).toHaveFocus());
  expect(wanted?.querySelector('.turn')).toHaveAttribute('open');
  await page.click('button', 'Load all');
  await waitFor(() => expect(rows()).toHaveLength(count));
  expect(screen.queryByRole('button', { name: 'Older turns' })).toBeNull();

  page.open(`/s/${id}/turns?turn=elsewhere`);
  expect(await screen.findByText('This chat has no such turn.')).toBeVisible();
});

test('only turns with errors are listed on demand', async ({ api, page }) => {
  const id = prepare(api);
  api.say(id, ['Fine?', 'Fine.']);
  page.open(`/s/${id}/turns`);
  await waitFor(() => expect(rows()).toHaveLength(4));
  await page.click('checkbox', 'Errors only');
  expect(rows().map((row) => row.dataset.turn)).toEqual(['two', 'one']);
  expect(summary(rows()[0])).toHaveTextContent('failed');
  await open(page, rows()[0]);
  expect(screen.getByText('agent_failed: It fell over.')).toBeVisible();
});

test('arrow keys move between the turns', async ({ api, page }) => {
  const id = prepare(api);
  page.open(`/s/${id}/turns`);
  await waitFor(() => expect(rows()).toHaveLength(3));
  summary(rows()[0]).focus();
  await page.user.keyboard('{ArrowDown}');
  expect(summary(rows()[1])).toHaveFocus();
  await page.user.keyboard('{End}');
  expect(summary(rows()[2])).toHaveFocus();
  await page.user.keyboard('{ArrowDown}{Home}');
  expect(summary(rows()[0])).toHaveFocus();
});

test.for(['read', 'admin'] as const)('a reader with the right %s sees the turns', async (access, {
  api,
  page,
}) => {
  const id = prepare(api);
  Object.assign(api.session(id), { access, user_id: 'bob' });
  page.open(`/s/${id}/turns`);
  await waitFor(() => expect(rows()).toHaveLength(3));
  await open(page, rows()[1]);
  expect(screen.getAllByTestId('event')).toHaveLength(5);
  expect(screen.queryByRole('button', { name: 'Ask again from here' })).toBeNull();
});

test('what cannot be read is said, and read again', async ({ api, page }) => {
  const id = prepare(api);
  let down = true;
  api.on('GET /sessions/{session_id}/events', (_, next) =>
    down ? Promise.reject(new TypeError('down')) : next(),
  );
  vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 1000 });
  page.open(`/s/${id}/turns`);
  expect(await screen.findByText('The server cannot be reached.')).toBeVisible();
  down = false;
  await page.click('button', 'Try again');
  await waitFor(() => expect(rows()).toHaveLength(3));
});

test('a delta renders the row of its turn alone', async ({ api, page }) => {
  serveLogs(api);
  const renders: number[] = [];
  for (const turns of [1, 20]) {
    const { id } = api.createSession({ name: `Of ${turns}` });
    api.say(id, ...Array.from({ length: turns }, (_, i): [string, string] => [`Q${i}`, `A${i}`]));
    api.answers = () => null;
    page.open(`/s/${id}/turns`);
    await waitFor(() => expect(rows()).toHaveLength(turns));
    const run = api.start(id, [saying('user', 'Tell me')]);
    const item = api.append(id, run, { ...saying('demo', 'Begun'), status: 'in_progress' });
    await waitFor(() => expect(rows()).toHaveLength(turns + 1));
    const row = await open(page, rows()[0]);
    const event = within(row).getAllByTestId('event')[1] as HTMLElement;
    await page.user.click(event.querySelector('summary') as HTMLElement);
    await waitFor(() => expect(event).toHaveTextContent('Begun'));
    const { count, stop } = rendersOf('Facts');
    const { epoch } = api.session(id);
    const at = (offset: number) => `${epoch}.${item.seq}.${offset}`;
    api.push(id, {
      type: 'item.delta',
      prev: at(0),
      cursor: at(1),
      item_id: item.id,
      delta: { part: 0, text: ' more' },
    });
    await waitFor(() => expect(event).toHaveTextContent('Begun more'));
    stop();
    renders.push(count());
    api.end(id, 'Done.');
  }
  expect(renders[0]).toBeGreaterThan(0);
  expect(renders[1]).toBe(renders[0]);
});

/** Counts the renders of the components of a name until `stop` is called. */
function rendersOf(name: string) {
  const hooks = options as { __r?: (vnode: VNode) => void };
  const { __r: before } = hooks;
  let renders = 0;
  hooks.__r = (vnode) => {
    if (typeof vnode.type === 'function' && vnode.type.name === name) renders++;
    before?.(vnode);
  };
  const stop = () => {
    hooks.__r = before;
  };
  return { count: () => renders, stop };
}
