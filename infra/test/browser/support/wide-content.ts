// A conversation with what is difficult on a narrow screen.

import type { Api } from './api.ts';

const TABLE = `| Expense | Amount | Remarks about the reservation |
|:--|--:|---|
| Accommodation | 1,250 | Cancellable until Wednesday, free of charge |
| Transportation | 480 | Includes supplementary insurance |
`;

const TASKS = `- [x] Book the ferry
- [ ] Ask for **vegetarian** meals
`;

export const CONTENT = {
  words: ['Accommodation', 'Transportation', 'Expense', 'Amount'],
  key: 'preferred_accommodation',
};

/** Creates the session; returns its id. */
export async function talk(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'Expenses of the trip to Lisbon' });
  const call = (call: string, name: string) => ({ function_call: { id: call, name, args: {} } });
  const result = (call: string, name: string, response: object) => ({
    function_response: { id: call, name, response },
  });
  const events = [
    { author: 'user', content: { role: 'user', parts: [{ text: 'What does it cost?' }] } },
    {
      author: 'guide',
      content: { role: 'model', parts: [call('c1', 'prices'), call('c2', 'timetable')] },
    },
    {
      author: 'guide',
      content: {
        role: 'user',
        parts: [
          result('c1', 'prices', { total: 1730 }),
          result('c2', 'timetable', { error: 'No ferry on Mondays.' }),
        ],
      },
    },
    {
      author: 'guide',
      content: { role: 'model', parts: [{ text: `It costs:\n\n${TABLE}\n${TASKS}` }] },
      actions: {
        state_delta: {
          [CONTENT.key]: 'A guest house in Graça, with breakfast and a view of the river',
        },
      },
    },
  ];
  await api.send('POST', `/sessions/${id}/events`, {
    events: events.map((event) => ({ invocation_id: 'costs', ...event })),
  });
  return id;
}
