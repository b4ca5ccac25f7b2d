// The chats of docs/console-before-after.md.

import type { Api } from '../support/api.ts';
import { fork, remember } from '../support/rewinding.ts';

const NAMES = [
  'By bicycle',
  'By train',
  'The coast',
  'In October',
  'With the children',
  'Vegetarian',
  'Only museums',
  'With grandmother',
  'With a tent',
  'On a budget',
  'Two days',
  'In the rain',
];

const EXPENSES = `It costs:

| Expense | Amount | Remarks about the reservation |
|---|--:|---|
| Accommodation | 1,250 | Cancellable until Wednesday, free of charge |
| Transportation | 480 | Includes supplementary insurance |
`;

const DIRECTIONS = `# ثلاثة أيام

- ألفاما سيراً على الأقدام
- بيليم صباحاً

English again.`;

/** A trip that was forked after its first and second turn, by turns. */
export async function forkedTrip(api: Api, forks: number): Promise<string> {
  const { id } = await api.createSession({ name: 'A trip to Lisbon' });
  const said = await api.say(
    id,
    ['Is Lisbon nice in May?', 'Yes: around 22 degrees.'],
    ['Three days, please.', 'Alfama, Belém, the tile museum.'],
    ['Where does one stay?', 'In Graça, a tram away.'],
  );
  for (let i = 0; i < forks; i++) {
    const name = NAMES[i % NAMES.length] ?? '';
    const number = forks > NAMES.length ? ` ${Math.floor(i / NAMES.length) + 1}` : '';
    const forked = await fork(api, id, name + number, said[1 + (i % 2)]);
    await api.say(forked.id, [`What changes ${name.toLowerCase()}?`, 'A little.']);
  }
  return id;
}

/** A recipe whose last turn changes state. */
export async function recipe(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'Bread with less salt' });
  await api.say(id, ['How much salt?', 'About 2 % of the flour.']);
  await api.say(id, ['And in rye bread?', 'A little less: 1.8 %.']);
  await remember(api, id, 'Without any?', { salt: 'none' });
  return id;
}

/** An answer for whose turn a file is saved afterwards. */
export async function plan(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'What the plan says' });
  const [turn] = await api.say(id, ['Write it down, please.', 'I have written it down for you.']);
  await api.put(id, 'plan.md', 'text/markdown', '# Three days', turn);
  return id;
}

export async function expenses(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'Expenses of the trip' });
  await api.say(id, ['What does it cost?', EXPENSES]);
  return id;
}

export async function directions(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'رحلة إلى Lisbon' });
  await api.say(id, ['مرحبا! كم يوماً نحتاج؟', DIRECTIONS]);
  return id;
}
