// A conversation for pictures: always the same, with something of every kind.

import type { Api } from '../support/api.ts';

const PLAN = `# Lisbon in three days

| Day | Morning | Evening |
|---|---|---|
| 1 | Alfama, on foot | Fado |
| 2 | Belém | Ginjinha by the square |
| 3 | Tile museum | The ferry to Cacilhas |
`;

interface Turn {
  invocation: string;
  question: string;
  parts: object[];
  state?: Record<string, unknown>;
  artifacts?: Record<string, number>;
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
  },
];

/** Creates the session with the story, and some other sessions; returns its id. */
export async function tell(api: Api): Promise<string> {
  for (const name of ['Bread with less salt', 'What the tax office wants']) {
    const { id } = await api.createSession({ name });
    await api.say(id, ['Hello', 'Hello!']);
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

function chat(api: Api, session: string, question: string, answer: string): Promise<unknown> {
  const invocation = question.slice(0, -1);
  return say(api, session, { invocation, question, parts: [{ text: answer }] });
}

function say(api: Api, session: string, turn: Turn): Promise<unknown> {
  const { invocation, question, parts, state, artifacts } = turn;
  const response = { average_high: 22, rainy_days: 5 };
  const actions = { state_delta: state, artifact_delta: artifacts };
  const events = [
    { author: 'user', content: { role: 'user', parts: [{ text: question }] } },
    { author: 'guide', content: { role: 'model', parts }, actions },
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
