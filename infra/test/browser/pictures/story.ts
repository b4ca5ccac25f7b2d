// A conversation for pictures: always the same, with something of every kind.

import type { Api, Session } from '../support/api.ts';

const PLAN = `# Lisbon in three days

| Day | Morning | Evening |
|---|---|---|
| 1 | Alfama, on foot | Fado |
| 2 | Belém | Ginjinha by the square |
| 3 | Tile museum | The ferry to Cacilhas |
`;

/** The question of the turn with a run. */
export const PRICE = 'What will it cost?';

interface Turn {
  invocation: string;
  question: string;
  parts: object[];
  state?: Record<string, unknown>;
  artifacts?: Record<string, number>;
  /** Tokens of the question with what precedes it, and of the answer. */
  tokens?: [input: number, output: number];
}

const TURNS: Turn[] = [
  {
    invocation: 'weather',
    question: 'Is Lisbon nice in May?',
    parts: [
      { thought: true, text: 'May is the end of spring. I should look at the averages.' },
      { function_call: { id: 'c1', name: 'climate', args: { city: 'Lisbon', month: 'May' } } },
      { text: 'It is: **around 22 °C**, long evenings, and the jacarandas are in bloom.' },
    ],
    state: { city: 'Lisbon', month: 'May' },
  },
  {
    invocation: 'days',
    question: 'Three days, please. I like tiles, and walking.',
    parts: [
      {
        text: `Then I would do it like this:

1. **Alfama** on foot, with the *miradouros* on the way
2. **Belém**, early, before the queues
3. The **tile museum**, and the ferry in the evening

I have written it down for you.`,
      },
    ],
    state: { days: 3, 'user:likes': ['tiles', 'walking'] },
    artifacts: { 'plan.md': 0 },
    tokens: [1240, 88],
  },
];

/** Creates the session with the story, and some other sessions; returns its id. */
export async function tell(api: Api): Promise<string> {
  for (const name of ['Bread with less salt', 'What the tax office wants']) {
    const { id, created_time } = await api.createSession({ name });
    await api.say(id, ['Hello', 'Hello!']);
    if (name.startsWith('Bread')) {
      await api.send('PATCH', `/sessions/${id}`, { metadata: { pinned: created_time } });
    }
  }
  const { id } = await api.createSession({ name: 'A trip to Lisbon' });
  await api.put(id, 'plan.md', 'text/markdown', PLAN);
  for (const turn of TURNS) await say(api, id, turn);
  return id;
}

/** Adds turns that are rewound, and forks. */
export async function branch(api: Api, session: string): Promise<void> {
  await chat(api, session, 'And by car?', 'A car is of little use there.');
  await chat(api, session, 'What about Porto?', 'Three hours by train.');
  await api.rewind(session, 'What about Porto');
  await chat(api, session, 'Where does one stay?', 'In Graça: quiet, and a tram away.');
  const fork = await api.fork(session);
  await api.send('PATCH', `/sessions/${fork.id}`, { name: 'With the children' });
  await chat(api, fork.id, 'We bring two children.', 'Then add the Oceanarium.');
  await chat(api, session, 'And to eat?', 'Grilled sardines, from June on.');
}

/** Forks the session before its plan, and asks for a shorter one; returns the fork's id. */
export async function shorten(api: Api, session: string): Promise<string> {
  const body = { rewind_before_invocation_id: 'days', name: 'A weekend in Lisbon' };
  const { data } = (await api.send('POST', `/sessions/${session}/fork`, body)) as {
    data: { id: string };
  };
  const text = `Then I would do it like this:

1. **Alfama** on foot, with a *fado* dinner at its end
2. The **tile museum**, and the ferry in the evening

I have written it down for you.`;
  await say(api, data.id, {
    invocation: 'weekend',
    question: 'Two days, please. I like tiles, and walking.',
    parts: [{ text }],
    state: { days: 2, 'user:likes': ['tiles', 'walking'] },
    tokens: [1240, 61],
  });
  return data.id;
}

/** Adds a turn that an agent elsewhere answers, with a tool and its tokens. */
export async function price(api: Api, session: string): Promise<void> {
  const content = (...parts: object[]) => ({ role: 'model', parts });
  const input = [{ author: 'user', content: { role: 'user', parts: [{ text: PRICE }] } }];
  const run = { mode: 'external', agent: 'guide', input };
  const started = await api.send('POST', `/sessions/${session}/runs`, run);
  const id = (started as { data: { session: Session } }).data.session.active_run_id;
  const events = `/sessions/${session}/runs/${id}/events`;
  const call = { id: 'c2', name: 'prices', args: { city: 'Lisbon', nights: 3 } };
  const result = { id: 'c2', name: 'prices', response: { hotel: 270, meals: 110 } };
  for (const event of [
    { content: content({ function_call: call }) },
    { content: { role: 'user', parts: [{ function_response: result }] } },
    {
      content: content({ text: 'About **€ 380**, with a room in Graça.' }),
      actions: { state_delta: { budget: 380 } },
      ...usage([1840, 96]),
    },
  ]) {
    await api.send('POST', events, { events: [{ author: 'guide', ...event }] });
  }
  await api.send('PATCH', `/sessions/${session}/runs/${id}`, { status: 'completed' });
}

function chat(api: Api, session: string, question: string, answer: string): Promise<unknown> {
  const invocation = question.slice(0, -1);
  return say(api, session, { invocation, question, parts: [{ text: answer }] });
}

function say(api: Api, session: string, turn: Turn): Promise<unknown> {
  const { invocation, question, parts, state, artifacts, tokens } = turn;
  const response = { average_high: 22, rainy_days: 5 };
  const actions = { state_delta: state, artifact_delta: artifacts };
  const events = [
    { author: 'user', content: { role: 'user', parts: [{ text: question }] } },
    { author: 'guide', content: { role: 'model', parts }, actions, ...usage(tokens) },
    ...(parts.some((part) => 'function_call' in part)
      ? [
          {
            author: 'guide',
            content: {
              role: 'user',
              parts: [{ function_response: { id: 'c1', name: 'climate', response } }],
            },
          },
        ]
      : []),
  ];
  return api.send('POST', `/sessions/${session}/events`, {
    events: events.map((event) => ({ invocation_id: invocation, ...event })),
  });
}

function usage(tokens: Turn['tokens']): object {
  if (!tokens) return {};
  const [prompt_tokens, completion_tokens] = tokens;
  return { model_version: 'gpt-5', usage_metadata: { prompt_tokens, completion_tokens } };
}
