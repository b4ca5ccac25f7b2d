// What is said in a chat that has much of everything: long names, two directions, tables, code, files.

import type { Api } from './api.ts';
import { tell } from './full-data.ts';

export const LONG = 'Averylongnamewithoutanyspaces'.repeat(6);
export const ARABIC = 'رحلة طويلة إلى لشبونة مع الأطفال والكثير من الأمتعة';

const column = (n: number) =>
  `| ${Array.from({ length: 9 }, (_, i) => `value ${n}.${i}`).join(' | ')} |`;

const TABLE = [
  `| ${Array.from({ length: 9 }, (_, i) => `Reservation ${i}`).join(' | ')} |`,
  `|${'---|'.repeat(9)}`,
  ...Array.from({ length: 12 }, (_, n) => column(n)),
].join('\n');

const CODE = `\`\`\`ts
export const address = 'https://example.org/${'a-rather-long-path/'.repeat(12)}';
${Array.from({ length: 12 }, (_, n) => `console.log(${n}, address);`).join('\n')}
\`\`\``;

const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="400" height="200" fill="teal"/></svg>';

const ANSWERS: [question: string, answer: string][] = [
  ['What does it cost?', `It costs:\n\n${TABLE}\n\n- [x] Book the ferry\n- [ ] Ask for **meals**`],
  ['مرحبا! كم يكلف ذلك؟ 1, 2, 3.', `# عنوان\n\n${ARABIC}. English again.\n\n> ${ARABIC}`],
  ['And as a program?', `Like this, with \`${LONG}\`:\n\n${CODE}\n\n$$\\sum_{i=1}^{n} i^2$$`],
  [
    LONG,
    `${LONG}\n\n[a link](https://example.org/${LONG})\n\n1. one\n2. two\n\nWith a note[^1].\n\n[^1]: A note.`,
  ],
];

const STATE = {
  preferred_accommodation_of_the_family: LONG,
  city: 'Lisbon',
  plan: { days: Array.from({ length: 30 }, (_, day) => ({ day, place: ARABIC })) },
  [`user:${LONG.slice(0, 90)}`]: true,
};

/** Fills a session; returns the invocations of its questions. */
export async function fill(api: Api, session: string): Promise<string[]> {
  const said: string[] = [];
  for (const turn of ANSWERS) said.push(...(await api.say(session, turn)));
  await tell(
    api,
    session,
    'tools',
    [{ text: 'Look at the prices, please.' }],
    [
      { thought: true, text: `I should look at ${LONG}.` },
      {
        function_call: {
          id: 'c1',
          name: 'prices_of_all_the_hotels_in_the_city',
          args: { of: LONG },
        },
      },
      { function_call: { id: 'c2', name: 'timetable', args: {} } },
    ],
  );
  await tell(
    api,
    session,
    'tools',
    [],
    [
      {
        function_response: {
          id: 'c1',
          name: 'prices_of_all_the_hotels_in_the_city',
          response: { total: LONG },
        },
      },
      {
        function_response: {
          id: 'c2',
          name: 'timetable',
          response: { error: 'No ferry on Mondays.' },
        },
      },
    ],
  );
  await files(api, session);
  await tell(
    api,
    session,
    'files',
    [{ text: 'And what have you written down?' }],
    [{ text: 'These.' }],
    {
      state_delta: STATE,
      artifact_delta: { 'plan.md': 0, [`${LONG.slice(0, 100)}.txt`]: 0, 'map.svg': 0 },
    },
  );
  return [...said, 'tools', 'files'];
}

async function files(api: Api, session: string): Promise<void> {
  await api.put(session, 'plan.md', 'text/markdown', `# Plan\n\n${TABLE}`);
  await api.put(session, `${LONG.slice(0, 100)}.txt`, 'text/plain', LONG.repeat(20));
  await api.put(session, 'map.svg', 'image/svg+xml', PICTURE);
  for (let n = 0; n < 20; n++)
    await api.put(session, `notes-${n}.json`, 'application/json', '{"a":1}');
}
