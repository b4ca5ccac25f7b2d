// Two branches side by side.

import type { Branch, Session } from '../../src/api/types';
import { problem } from './fake-api';
import { endRun, having, rewindTo, serveLogs } from './logs';
import { expect, screen, test, waitFor, within } from './page';
import { saying, type World } from './world';

/** Serves a session of which a rewind has hidden the second turn. */
function serveRewound(api: World) {
  serveLogs(api);
  const session = api.createSession({ name: 'Rewound' });
  api.say(session.id, ['One', 'First.']);
  const [two = ''] = api.say(session.id, ['Two', 'Second.']);
  const marker = rewindTo(api, session.id, two);
  api.say(session.id, ['Other', 'Else.']);
  serveForks(api, session);
  return { session, marker };
}

/** Serves a tree of a session and one fork of it. */
function serveForks(api: World, root: Session, fork?: Session, before: string | null = null): void {
  const branch = (session: Session, children: Branch[]): Branch => ({
    id: session.id,
    name: session.name,
    deleted: false,
    rewind_before_invocation_id: session === root ? null : before,
    boundary_found: true,
    forked_at_seq: 0,
    created_time: session.created_time,
    children,
  });
  api.on('GET /sessions/{session_id}/forks', () => [
    200,
    {
      data: branch(root, fork ? [branch(fork, [])] : []),
      meta: { next_cursor: null },
    },
  ]);
}

/** Creates a fork with what a session shows up to an invocation. */
function fork(api: World, of: Session, before: string): Session {
  const made = api.createSession({ name: `Fork of ${of.name}` });
  for (const { invocation_id, ...entry } of api.log(of.id)) {
    if (invocation_id === before) break;
    const { seq: _, id: __, session_id: ___, ...rest } = entry;
    api.append(made.id, invocation_id, rest);
  }
  return made;
}

function answer(api: World, id: string, turn: string, text: string, city: string, place: string) {
  const call = { id: 'c', name: 'look_up', args: { place } };
  api.append(id, turn, having('demo', { function_call: call }));
  const response = { id: 'c', name: 'look_up', response: { found: true } };
  api.append(id, turn, having('demo', { function_response: response }));
  api.append(id, turn, {
    ...saying('demo', text),
    actions: { state_delta: { city }, artifact_delta: { 'plan.txt': city.length } },
    usage_metadata: { input_tokens: 1000, output_tokens: city.length * 100 },
  });
}

function prepare(api: World) {
  serveLogs(api);
  const root = api.createSession({ name: 'Trip' });
  api.append(root.id, 'start', { author: 'system', actions: { state_delta: { city: 'Rome' } } });
  api.say(root.id, ['Hello', 'Hi.']);
  api.append(root.id, 'ask', saying('user', 'Where to in March?'));
  answer(api, root.id, 'ask', 'To Lisbon by train.', 'Lisbon', 'west');
  endRun(api, root.id, 'ask', { started_time: 1000, ended_time: 4000 });
  const forked = fork(api, root, 'ask');
  api.append(forked.id, 'other', saying('user', 'Where to in May?'));
  answer(api, forked.id, 'other', 'To Porto by train.', 'Porto', 'north');
  api.say(forked.id, ['And then?', 'Home.']);
  serveForks(api, root, forked, 'ask');
  return { root, forked };
}

const pairs = () => screen.queryAllByTestId('pair');
const texts = (pair: HTMLElement | undefined, column: string) =>
  [...(pair?.querySelectorAll(`.compare-text[data-column=${column}]`) ?? [])].map(
    (one) =>
      `${one.querySelector('h3')?.textContent}: ${one.lastElementChild?.textContent?.trim()}`,
  );

test('a fork stands beside its source from where they part', async ({ api, page }) => {
  const { root, forked } = prepare(api);
  api.on('GET /sessions/{session_id}/artifacts/{name}', ({ query }) => {
    const text = query.version === '6' ? 'Lisbon at noon' : 'Porto at noon';
    return [200, text as never, { 'Content-Type': 'text/plain' }];
  });
  page.open(`/compare?left=${root.id}&right=${forked.id}`, {
    prices: { demo: { input: 1, output: 10 } },
  });
  await waitFor(() => expect(pairs()).toHaveLength(2));
  expect(screen.getByText(/The branches part after/)).toHaveTextContent('Hello');
  const [first, second] = pairs();
  expect(texts(first, 'left')).toEqual(
    [
      'Question: Where to in March?',
      'Arguments: { "place": "west" }',
      'Result: { "found": true }',
      'Answer: To Lisbon by train.',
    ].map((text) => text.replace('{ ', '{\n  ').replace(' }', '\n}')),
  );
  expect(texts(first, 'right')[3]).toBe('Answer: To Porto by train.');
  expect([...(first?.querySelectorAll('del') ?? [])].map((one) => one.textContent)).toEqual([
    'March',
    'west',
    'Lisbon',
  ]);
  expect([...(first?.querySelectorAll('ins') ?? [])].map((one) => one.textContent)).toEqual([
    'May',
    'north',
    'Porto',
  ]);
  expect(within(first as HTMLElement).getByTestId('call-pair')).toHaveTextContent(
    'look_up other arguments, same result',
  );
  expect(texts(second, 'left')).toEqual(['Question: No such turn', 'Answer: No such turn']);
  const totals = [...screen.getByTestId('totals').children].map((one) => one.textContent);
  expect(totals).toEqual([
    '1 turn1,000 in · 600 out (tokens)$0.00703.0 s',
    '2 turns1,000 in · 500 out (tokens)$0.0060time not recorded',
  ]);
  expect(screen.getAllByTestId('end').map((one) => one.textContent)).toEqual([
    'cityLisbonPorto',
    'plan.txtversion 7version 6',
  ]);
  const marked = (tag: string) =>
    [...document.querySelectorAll(`.compare-end ${tag}.differs`)].map((one) => one.textContent);
  expect(marked('del')).toEqual(['Lisbon', 'version 7']);
  expect(marked('ins')).toEqual(['Porto', 'version 6']);
});

test('answers are rendered as in the chat, with the words in which they differ', async ({
  api,
  page,
}) => {
  serveLogs(api);
  const root = api.createSession({ name: 'Trip' });
  const forked = api.createSession({ name: 'Fork' });
  const text = (city: string, fare: string) => `# Go to **${city}**

Take \`the\` [train](https://trains.example/${city}).
Or walk.

- by *day*
- by ~~night~~

| fare | of |
|---|---|
| ${fare} | ${city} |

\`\`\`js
ride("${city}");
\`\`\``;
  api.append(root.id, 'ask', saying('user', 'Is 2**3 = **8**?'));
  const call = { id: 'c', name: 'look_up', args: {} };
  api.append(root.id, 'ask', having('demo', { function_call: call }));
  api.append(root.id, 'ask', saying('demo', text('Lisbon', '9 euros')));
  api.append(forked.id, 'other', saying('user', 'Is 2**3 = **8**?'));
  api.append(forked.id, 'other', saying('demo', text('Porto', '7 pounds')));
  serveForks(api, root, forked);
  page.open(`/compare?left=${root.id}&right=${forked.id}`);
  await waitFor(() => expect(pairs()).toHaveLength(1));
  const [pair] = pairs();
  expect(texts(pair, 'left')[0]).toBe('Question: Is 2**3 = **8**?'); // as it was written
  expect(texts(pair, 'right')[1]).toBe('Arguments: No such call');
  for (const [column, tag, words] of [
    ['left', 'del', ['Lisbon', '9', ' ', 'euros', 'Lisbon', 'Lisbon']],
    ['right', 'ins', ['Porto', '7', ' ', 'pounds', 'Porto', 'Porto']],
  ] as const) {
    const answer = pair?.querySelector(`[data-column=${column}] .markdown`);
    expect(answer?.textContent).not.toMatch(/[*~|\x60#]/);
    expect(answer?.textContent).toContain('Take the train.\nOr walk.');
    expect(answer?.querySelector('h1 strong')).toHaveTextContent(words[0]);
    expect(answer?.querySelector('a')).toHaveAttribute(
      'href',
      `https://trains.example/${words[0]}`,
    );
    expect(answer?.querySelectorAll('li, td')).toHaveLength(4);
    expect(answer?.querySelector('pre')).toHaveTextContent(`ride("${words[0]}");`);
    const marked = [...(answer?.querySelectorAll(`${tag}.differs`) ?? [])];
    expect(marked.map((one) => one.textContent)).toEqual(words);
  }
});

test('a part that a rewind has hidden stands beside what is shown', async ({ api, page }) => {
  const { session, marker } = serveRewound(api);
  page.open(`/compare?left=${session.id}`);
  expect(await screen.findByText('Choose two different branches.')).toBeVisible();
  const choice = await screen.findByRole('combobox', { name: 'Left branch' });
  const part = await within(choice).findByRole('option', { name: /^Before the rewind/ });
  await page.user.selectOptions(choice, part);
  expect(page.path).toBe(
    `/compare?left=${session.id}&left_before=${marker.invocation_id}&right=${session.id}`,
  );
  await waitFor(() => expect(pairs()).toHaveLength(1));
  expect(texts(pairs()[0], 'left')).toEqual(['Question: Two', 'Answer: Second.']);
  expect(texts(pairs()[0], 'right')).toEqual(['Question: Other', 'Answer: Else.']);
  page.open(`/compare?left=${session.id}&left_before=unknown&right=${session.id}`);
  expect(await screen.findByText('One of the branches does not exist.')).toBeVisible();
});

test('long logs are read back to where the branches part, and further on demand', async ({
  api,
  page,
}) => {
  serveLogs(api);
  const root = api.createSession({ name: 'Long' });
  api.append(root.id, 'start', { author: 'system', actions: { state_delta: { city: 'Rome' } } });
  api.say(root.id, ...Array.from({ length: 400 }, (_, i): [string, string] => [`Q${i}`, `A${i}`]));
  const forked = fork(api, root, 'none');
  api.say(forked.id, ['More?', 'More.']);
  const turn = api.id('turn');
  api.append(root.id, turn, saying('user', 'Less?'));
  api.append(root.id, turn, {
    ...saying('demo', 'Less.'),
    actions: { state_delta: { city: 'Bonn' } },
  });
  serveForks(api, root, forked);
  page.open(`/compare?left=${root.id}&right=${forked.id}`);
  await waitFor(() => expect(pairs()).toHaveLength(1));
  const asked = () => api.askedFor('GET /sessions/{session_id}/events').length;
  expect(asked()).toBe(2);
  expect(screen.getByTestId('end')).toHaveTextContent(/^cityBonnnot loaded/);
  await page.click('button', 'Look for unknown values further back');
  await waitFor(() => expect(screen.getByTestId('end')).toHaveTextContent('cityBonnRome'));
  expect(asked()).toBe(2 + 4 * 2);
});

test('a switch chooses the branch that a narrow screen shows', async ({ api, page }) => {
  const { root, forked } = prepare(api);
  page.open(`/compare?left=${root.id}&right=${forked.id}`, { narrow: true });
  await waitFor(() => expect(pairs()).toHaveLength(2));
  const sides = document.querySelector<HTMLElement>('.compare-sides');
  expect(sides?.dataset.side).toBe('left');
  await page.click('button', 'Right branch');
  expect(sides?.dataset.side).toBe('right');
  expect(screen.getByRole('button', { name: 'Right branch' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
});

test('a branch without access is said, and what was refused is tried again', async ({
  api,
  page,
}) => {
  const { root, forked } = prepare(api);
  let allowed = false;
  api.on('GET /sessions/{session_id}/events', ({ params: [id] }, next) =>
    id === forked.id && !allowed ? problem(403, 'It is not shared with you.') : next(),
  );
  page.open(`/compare?left=${root.id}&right=${forked.id}`);
  expect(await screen.findByRole('alert')).toHaveTextContent('It is not shared with you.');
  allowed = true;
  await page.click('button', 'Try again');
  await waitFor(() => expect(pairs()).toHaveLength(2));
});

test('the tree and the variants lead to a comparison', async ({ api, page }) => {
  const { session, marker } = serveRewound(api);
  await page.openSession(session.id);
  const variant = await screen.findByRole('link', { name: 'Compare with another variant' });
  const hidden = `${session.id}&left_before=${marker.invocation_id}`;
  expect(variant).toHaveAttribute('href', expect.stringContaining(`left=${hidden}&right=`));
  await page.click('button', 'Side panel');
  await page.click('tab', 'Tree');
  await page.click('link', 'Compare branches');
  expect(page.path).toBe(
    `/compare?left=${session.id}&right=${session.id}&right_before=${marker.invocation_id}`,
  );
  await waitFor(() => expect(pairs()).toHaveLength(1));
});
