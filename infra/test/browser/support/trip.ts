// A conversation of short turns, for tests of questions that are asked again.

import type { Api } from './api.ts';
import { remember, rewind } from './rewinding.ts';

/** Creates a session with the questions One, Two and Three; returns its id. */
export async function trip(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'Trip' });
  await api.say(id, ['One', 'First.'], ['Two', 'Second.'], ['Three', 'Third.']);
  return id;
}

/**
 * Creates a session whose second question was asked in three ways: Two, which is followed by Three,
 * Other, and Another, which is shown; returns its id.
 */
export async function tripWithVariants(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'Trip' });
  await api.say(id, ['One', 'First.']);
  const two = await remember(api, id, 'Two', { city: 'Porto' });
  await api.say(id, ['Three', 'Third.']);
  await rewind(api, id, two);
  const [other] = await api.say(id, ['Other', 'Else.']);
  await rewind(api, id, other);
  await api.say(id, ['Another', 'Even else.']);
  return id;
}
