// The API, for tests to prepare data and to check what the page has stored.

import { randomUUID } from 'node:crypto';

export interface Event {
  id: string;
  seq: number;
  invocation_id: string;
  author: string;
  status: string;
  content?: { role?: string; parts?: { text?: string }[] };
}

export interface Session {
  id: string;
  name: string;
  status: string;
  active_run_id: string | null;
  epoch: number;
  created_time: number;
  fork: { session_id: string } | null;
}

export class Api {
  readonly url: string;
  readonly user: string;
  #token: Promise<string> | null = null;

  constructor(url: string, user: string) {
    this.url = url;
    this.user = user;
  }

  async createSession(
    body: { name?: string; state?: Record<string, unknown> } = {},
  ): Promise<Session> {
    return data(await this.send('POST', '/sessions', body));
  }

  async sessions(): Promise<Session[]> {
    return data(await this.send('GET', '/sessions'));
  }

  async session(id: string): Promise<Session> {
    return data(await this.send('GET', `/sessions/${id}`));
  }

  async events(session: string): Promise<Event[]> {
    return data(await this.send('GET', `/sessions/${session}/events?limit=1000`));
  }

  /** Appends turns of a question and an answer each; returns their invocations. */
  async say(session: string, ...turns: [question: string, answer: string][]): Promise<string[]> {
    const invocations: string[] = [];
    for (let from = 0; from < turns.length; from += 50) {
      const events = turns.slice(from, from + 50).flatMap(([question, answer]) => {
        const id = randomUUID();
        invocations.push(id);
        return [event(id, 'user', 'user', question), event(id, 'demo', 'model', answer)];
      });
      await this.send('POST', `/sessions/${session}/events`, { events });
    }
    return invocations;
  }

  /** Rewinds a session to before an invocation. */
  async rewind(session: string, invocation: string): Promise<void> {
    const body = { rewind_before_invocation_id: invocation };
    await this.send('POST', `/sessions/${session}/rewind`, body);
  }

  /** Forks a whole session. */
  async fork(session: string): Promise<Session> {
    return data(await this.send('POST', `/sessions/${session}/fork`, {}));
  }

  /** Starts a run, as another tab or device would; returns its id. */
  async ask(session: string, text: string): Promise<string> {
    const input = [{ author: 'user', content: { role: 'user', parts: [{ text }] } }];
    const thread = await this.send('POST', `/sessions/${session}/runs`, { input });
    return data<{ session: Session }>(thread).session.active_run_id ?? '';
  }

  /** Queues an input behind the active run. */
  async enqueue(session: string, text: string, more: Record<string, unknown> = {}): Promise<void> {
    const input = [{ author: 'user', content: { role: 'user', parts: [{ text }] } }];
    await this.send('POST', `/sessions/${session}/runs`, { input, on_active: 'enqueue', ...more });
  }

  /** Uploads a version of an artifact; an event of the invocation, if given, names it. */
  async put(session: string, name: string, type: string, text: string, invocation?: string) {
    const query = invocation === undefined ? '' : `?invocation_id=${invocation}`;
    await this.#send('PUT', `/sessions/${session}/artifacts/${name}${query}`, type, text);
  }

  send(method: string, path: string, body?: unknown): Promise<unknown> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return this.#send(method, path, 'application/json', text);
  }

  /** Calls an operation of an agent over A2A, version 1.0. */
  a2a(agent: string, operation: string, body: unknown): Promise<unknown> {
    const text = JSON.stringify(body);
    return this.#request('POST', `/a2a/${agent}/${operation}`, 'application/json', text);
  }

  #send(method: string, path: string, type: string, body?: string): Promise<unknown> {
    return this.#request(method, `/api/v1${path}`, type, body);
  }

  async #request(method: string, path: string, type: string, body?: string): Promise<unknown> {
    this.#token ??= this.#signIn();
    const response = await fetch(this.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${await this.#token}`,
        'Content-Type': type,
        'A2A-Version': '1.0',
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  async #signIn(): Promise<string> {
    const response = await fetch(`${this.url}/dev/token`, {
      method: 'POST',
      body: JSON.stringify({ user_id: this.user }),
    });
    return ((await response.json()) as { token: string }).token;
  }
}

function event(invocation: string, author: string, role: string, text: string) {
  return { invocation_id: invocation, author, content: { role, parts: [{ text }] } };
}

function data<T>(answer: unknown): T {
  return (answer as { data: T }).data;
}
