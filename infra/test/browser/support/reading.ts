// An answer with code, formulas and footnotes.

import type { Api } from './api.ts';

export const ANSWER = `Here is a function[^1]:

\`\`\`go
// Add returns the sum of two numbers.
func Add(a, b int) (int, error) {
	if a > 1<<62 { return 0, fmt.Errorf("%d is too large, and this message is so long that it does not fit", a) }
	return a + b, nil
}
\`\`\`

It costs $5 and $10. The root of $x^2 + px + q = 0$ is \\(x = -\\frac{p}{2}\\), since

$$
\\begin{aligned}
x_{1,2} &= -\\frac{p}{2} \\pm \\sqrt{\\left(\\frac{p}{2}\\right)^2 - q} \\\\
  &= \\sum_{i=1}^{n} \\int_0^\\infty e^{-t^2 / i} \\, dt
\\end{aligned}
$$

and \\[ A = \\begin{pmatrix} 1 & 0 \\\\ 0 & -1 \\end{pmatrix}, \\quad f(x) = \\begin{cases} 1 & x > 0 \\\\ 0 & \\text{otherwise} \\end{cases} \\]

\`\`\`json
{"name": "Lisbon", "population": 545796, "capital": true, "mayor": null}
\`\`\`

\`\`\`python
@cached
def area(r: float) -> float:
    """The area of a circle."""
    return 3.14159 * r ** 2  # as precise as needed
\`\`\`

\`\`\`diff
- the old line
+ the new line
\`\`\`

${'Some more text, so that the notes are out of view. '.repeat(60)}

[^1]: In **Go**, see [its site](https://go.dev).
[^2]: Never mentioned.
`;

/** Creates the session; returns its id. */
export async function lesson(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'A lesson' });
  await api.say(id, ['Explain it', ANSWER]);
  return id;
}

const call = (id: string, name: string, args = {}) => ({ function_call: { id, name, args } });

const result = (id: string, name: string, response: unknown) => ({
  function_response: { id, name, response },
});

/** Creates a session whose agent calls several tools and tells its tokens; returns its id. */
export async function errand(api: Api): Promise<string> {
  const { id } = await api.createSession({ name: 'An errand' });
  const rows = Array.from({ length: 200 }, (_, i) => ({ station: `Station ${i}`, minutes: i }));
  const said = async (...parts: unknown[]) => {
    const events = [
      { invocation_id: 'errand', author: 'guide', content: { role: 'model', parts } },
    ];
    await api.send('POST', `/sessions/${id}/events`, { events });
  };
  const question = { role: 'user', parts: [{ text: 'How do I get there?' }] };
  const asked = [{ invocation_id: 'errand', author: 'user', content: question }];
  await api.send('POST', `/sessions/${id}/events`, { events: asked });
  await said(call('c1', 'timetable', { to: 'Lisbon' }));
  await said(result('c1', 'timetable', { rows }));
  await said(call('c2', 'prices', { class: 2 }), call('c3', 'weather', { city: 'Lisbon' }));
  await said(result('c2', 'prices', { total: 48 }));
  await said(result('c3', 'weather', { error: 'No forecast.' }));
  const usage_metadata = {
    prompt_tokens: 1200,
    completion_tokens: 345,
    prompt_tokens_details: { cached_tokens: 1000 },
  };
  const content = { role: 'model', parts: [{ text: 'Take the train.' }] };
  const events = [{ invocation_id: 'errand', author: 'guide', content, usage_metadata }];
  await api.send('POST', `/sessions/${id}/events`, { events });
  return id;
}
