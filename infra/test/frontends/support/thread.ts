// What the system has of a thread, by its own API.

export interface Run {
  id: string;
  status: string;
}

const url = () => process.env.RETHREAD_URL ?? '';

async function token(user = 'alice'): Promise<string> {
  const body = JSON.stringify({ user_id: user });
  const answer = await fetch(`${url()}/dev/token`, { method: 'POST', body });
  return (await answer.json()).token;
}

async function get(path: string) {
  const headers = { Authorization: `Bearer ${await token()}` };
  const answer = await fetch(`${url()}/api/v1/sessions/${path}`, { headers });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Creates a thread of another user. */
export async function threadOf(user: string): Promise<string> {
  const headers = {
    Authorization: `Bearer ${await token(user)}`,
    'Content-Type': 'application/json',
  };
  const answer = await fetch(`${url()}/api/v1/sessions`, { method: 'POST', headers, body: '{}' });
  return (await answer.json()).data.id;
}

/** The runs of a thread in their order, with those that were rewound. */
export async function runsOf(thread: string): Promise<Run[]> {
  const { data } = await get(`${thread}/events?view=all`);
  const inputs = (data as { author: string; invocation_id: string }[]).filter(
    ({ author }) => author === 'user',
  );
  const ids = new Set(inputs.map((event) => event.invocation_id));
  return Promise.all([...ids].map((id) => get(`${thread}/runs/${id}`).then((run) => run.data)));
}

/** Who said what in a thread, without what was rewound. */
export async function texts(thread: string): Promise<string[]> {
  const { data } = await get(`${thread}/events`);
  type Event = { author: string; content?: { parts?: { text?: string }[] } };
  return (data as Event[])
    .map(
      ({ author, content }) =>
        `${author}: ${(content?.parts ?? []).map((p) => p.text ?? '').join('')}`,
    )
    .filter((line) => !line.endsWith(': '));
}

/** The words of the agent's answer to "long". */
export const words = (count: number) =>
  Array.from({ length: count }, (_, i) => `word${i + 1}`).join(' ');
