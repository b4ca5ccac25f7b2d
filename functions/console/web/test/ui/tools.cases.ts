// Tool calls in a row: a folded group shows those that failed, and no others.

import { expect, screen, test, waitFor, within } from './page';

test('a failure unfolds itself alone', async ({ api, page }) => {
  const { id } = api.createSession({ name: 'Trip' });
  const calls = ['timetable', 'prices', 'weather'].map((name) => ({
    function_call: { id: name, name, args: { city: 'Lisbon' } },
  }));
  const results = [{ ok: true }, { ok: true }, { error: 'No forecast.' }].map((response, i) => {
    const name = calls[i]?.function_call.name;
    return { function_response: { id: name, name, response } };
  });
  const turn = api.id('turn');
  api.append(id, turn, { author: 'demo', content: { role: 'model', parts: calls } });
  api.append(id, turn, { author: 'demo', content: { role: 'user', parts: results } });
  await page.openSession(id);
  const group = await screen.findByTestId('calls');
  expect(group).toHaveTextContent('3 tool calls1 failed');
  const shown = () => within(group).queryAllByTestId('tool');
  expect(shown().length).toBe(1);
  expect(shown()[0]).toHaveTextContent('weatherfailedNo forecast.');
  expect(shown()[0]).not.toHaveAttribute('open');
  const folds = group.querySelector('details') as HTMLDetailsElement;
  folds.open = true;
  await waitFor(() => expect(shown().length).toBe(3));
  folds.open = false;
  await waitFor(() => expect(shown().length).toBe(1));
});
