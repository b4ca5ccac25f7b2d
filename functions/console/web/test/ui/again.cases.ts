// A turn that is asked again in a fork, for developers.

import type { Session } from '../../src/api/types';
import { problem } from './fake-api';
import { endRun, having, serveLogs } from './logs';
import { expect, type Page, screen, test, vi, waitFor, within } from './page';
import { saying, type World } from './world';

const FORK = 'POST /sessions/{session_id}/fork';
const RUN = 'POST /sessions/{session_id}/runs';

function prepare(api: World): Session {
  serveLogs(api);
  const session = api.createSession({ name: 'Trip' });
  api.say(session.id, ['Hello', 'Hi.']);
  const file = { file_uri: 'artifact://session/map.png', display_name: 'map.png' };
  const inline = { inline_data: { mime_type: 'text/plain', data: 'SGk=' } };
  api.append(session.id, 'ask', having('user', { text: 'Where to?' }, inline, { file_data: file }));
  const usage_metadata = { input_tokens: 2000, output_tokens: 100 };
  api.append(session.id, 'ask', { ...saying('demo', 'Home.'), usage_metadata });
  endRun(api, session.id, 'ask', { started_time: 1, ended_time: 2 });
  api.on(FORK, ({ params: [id = ''], body }) => {
    const { rewind_before_invocation_id: before, dry_run } = body as Record<string, unknown>;
    const name = `Fork of ${api.session(id).name}`;
    const entries = api.log(id);
    const end = entries.findIndex(({ invocation_id }) => invocation_id === before);
    if (end < 0) return problem(400, 'the boundary is not in the log');
    const preview = { ...api.session(id), id: 'preview', name, head_seq: end };
    if (dry_run) return [200, { data: preview }];
    const made = api.createSession({ name });
    for (const { invocation_id, author, content } of entries.slice(0, end)) {
      api.append(made.id, invocation_id, { author, content });
    }
    return [201, { data: { ...made } }];
  });
  api.on('DELETE /sessions/{session_id}', ({ params: [id = ''] }) => {
    api.sessions.delete(id);
    return [204];
  });
  api.on('GET /sessions/{session_id}/forks', () => problem(404, 'not of interest'));
  return session;
}

async function openDialog(page: Page, id: string, options = {}): Promise<HTMLElement> {
  page.open(`/s/${id}/turns?turn=ask`, options);
  await page.click('button', 'Ask again from here');
  await screen.findByTestId('plan');
  return screen.findByRole('dialog');
}

const forks = (api: World) =>
  api.askedFor(FORK).filter(({ body }) => !(body as { dry_run?: boolean }).dry_run);

test('a turn is asked again in a fork, with another question, agent and state', async ({
  api,
  page,
}) => {
  const session = prepare(api);
  const prices = { demo: { input: 1, output: 10 }, other: { input: 10, output: 100 } };
  api.agents = ['default', 'demo', 'other'];
  const dialog = await openDialog(page, session.id, { prices });
  expect(forks(api)).toEqual([]);
  expect(screen.getByTestId('plan')).toHaveTextContent(
    /Fork of Trip begins with the 2 events before this turn.*left out: map\.png\./,
  );
  const estimate = () => within(dialog).getByTestId('estimate');
  expect(estimate()).toHaveTextContent('2,000 tokens in and 100 out; as many cost about $0.0030.');
  await page.fill('Question', 'Where to in May?');
  await within(dialog).findByRole('option', { name: 'other' });
  await page.user.selectOptions(screen.getByRole('combobox', { name: 'Agent' }), 'other');
  expect(estimate()).toHaveTextContent('as many cost about $0.030.');
  await page.fill(/^Changes of the state/, '{"city": "Porto", "days": null}');
  await page.click('button', 'Fork and ask');
  await waitFor(() => expect(page.path).toMatch(/^\/compare/));
  const [run] = api.askedFor(RUN);
  const made = run?.params[0] ?? '';
  expect(page.path).toBe(`/compare?left=${session.id}&right=${made}`);
  expect(run?.body).toMatchObject({
    agent: 'other',
    on_active: 'reject',
    input: [
      {
        author: 'user',
        content: {
          role: 'user',
          parts: [
            { text: 'Where to in May?' },
            { inline_data: { mime_type: 'text/plain', data: 'SGk=' } },
          ],
        },
        actions: { state_delta: { city: 'Porto', days: null } },
      },
    ],
  });
  expect(forks(api).map(({ body }) => body)).toEqual([
    { rewind_before_invocation_id: 'ask', name: null, strict: true },
  ]);
  const pair = await screen.findByTestId('pair');
  await waitFor(() => expect(pair).toHaveTextContent('You said: "Where to in May?'));
  expect(api.log(session.id)).toHaveLength(5);
});

test('an answer that is in progress appears beside the first one', async ({ api, page }) => {
  const session = prepare(api);
  api.answers = () => null;
  await openDialog(page, session.id);
  await page.click('button', 'Fork and ask');
  await screen.findByTestId('pair');
  const made = api.askedFor(RUN)[0]?.params[0] ?? '';
  api.end(made, 'At last.');
  await waitFor(() => expect(screen.getByTestId('pair')).toHaveTextContent('At last.'));
});

test('what is no state is said at its field, and nothing is made', async ({ api, page }) => {
  const session = prepare(api);
  const dialog = await openDialog(page, session.id);
  for (const [text, why] of [
    ['{', 'This is not valid JSON.'],
    ['[1]', 'This is not a JSON object.'],
    ['null', 'This is not a JSON object.'],
  ] as const) {
    await page.fill(/^Changes of the state/, text);
    await page.click('button', 'Fork and ask');
    expect(await within(dialog).findByText(why)).toBeVisible();
  }
  await page.fill('Question', '   ');
  await page.click('button', 'Fork and ask');
  expect(await within(dialog).findByText('The question is empty.')).toBeVisible();
  expect(forks(api)).toEqual([]);
});

test('a question that is refused leaves no fork', async ({ api, page }) => {
  const session = prepare(api);
  let closed = true;
  api.on(RUN, (_, next) => {
    const pointer = '/input/0/actions/state_delta/app:x';
    return closed ? problem(422, 'refused', [{ pointer, detail: 'is closed' }]) : next();
  });
  const dialog = await openDialog(page, session.id);
  await page.fill(/^Changes of the state/, '{"app:x": 1}');
  await page.click('button', 'Fork and ask');
  expect(await within(dialog).findByText('Is closed.')).toBeVisible();
  expect([...api.sessions.keys()]).toEqual([session.id]);
  expect(screen.queryByTestId('left')).toBeNull();
  closed = false;
  await page.click('button', 'Fork and ask');
  await waitFor(() => expect(page.path).toMatch(/^\/compare/));
  expect(api.sessions.size).toBe(2);
  const [first, second] = forks(api).map(({ headers }) => headers.get('Idempotency-Key'));
  expect(first).not.toBe(second);
});

test('a fork that cannot be deleted is named', async ({ api, page }) => {
  const session = prepare(api);
  api.on(RUN, () => problem(422, 'It is not possible.'));
  api.on('DELETE /sessions/{session_id}', () => problem(403, 'no'));
  await openDialog(page, session.id);
  await page.click('button', 'Fork and ask');
  const left = await screen.findByTestId('left');
  const made = forks(api).length === 1 ? api.askedFor(RUN)[0]?.params[0] : '';
  expect(within(left).getByRole('link', { name: 'Fork of Trip' })).toHaveAttribute(
    'href',
    expect.stringMatching(`/s/${made}$`),
  );
});

test('without an answer nothing is undone, and trying again repeats nothing', async ({
  api,
  page,
}) => {
  const session = prepare(api);
  let lost: string = FORK;
  const lose = (_: unknown, next: () => unknown) => {
    void next();
    return Promise.reject(new TypeError('lost'));
  };
  const made = new Map<string, Promise<unknown>>();
  const once = (key: string | null, next: () => unknown) => {
    const known = made.get(key ?? '') ?? Promise.resolve(next());
    made.set(key ?? '', known);
    return known;
  };
  api.on(FORK, ({ headers, body }, next) => {
    if ((body as { dry_run?: boolean }).dry_run) return next();
    const answer = () => once(headers.get('Idempotency-Key'), next);
    return (lost === FORK ? lose(null, answer) : answer()) as ReturnType<typeof next>;
  });
  api.on(RUN, ({ headers }, next) => {
    const answer = () => once(headers.get('Idempotency-Key'), next);
    return (lost === RUN ? lose(null, answer) : answer()) as ReturnType<typeof next>;
  });
  const dialog = await openDialog(page, session.id);
  vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 1000 });
  await page.click('button', 'Fork and ask');
  expect(await within(dialog).findByText(/new chat may have been made/)).toBeVisible();
  lost = RUN;
  await page.click('button', 'Fork and ask');
  expect(await within(dialog).findByText(/were made and are still there/)).toBeVisible();
  lost = '';
  await page.click('button', 'Fork and ask');
  await waitFor(() => expect(page.path).toMatch(/^\/compare/));
  expect(api.sessions.size).toBe(2);
  const fork = [...api.sessions.keys()].find((id) => id !== session.id) ?? '';
  expect(api.said(fork)).toEqual(['Hello', 'Where to?']);
});

test('a plan that cannot be loaded is loaded again', async ({ api, page }) => {
  const session = prepare(api);
  let down = true;
  api.on(FORK, (_, next) => (down ? problem(403, 'Not now.') : next()));
  page.open(`/s/${session.id}/turns?turn=ask`);
  await page.click('button', 'Ask again from here');
  expect(await screen.findByText('Not now.')).toBeVisible();
  down = false;
  await page.click('button', 'Try again');
  expect(await screen.findByTestId('plan')).toBeVisible();
});
