// The sessions of a fake deployment: what is asked of it is stored in memory, and its agents answer.

import type { components, Feedback, QueuedInput, RunRequest, TaskSave } from 'rethread';
import type { Event, Session, Share, Task, Thread } from '../../src/api/types';
import { FakeApi, problem } from './fake-api';

type Input = components['schemas']['InputEvent'];

/** The events of an input, which may be a text. */
export const inputsOf = ({ input }: RunRequest): Input[] =>
  typeof input === 'string' ? [{ content: { role: 'user', parts: [{ text: input }] } }] : input;

const page = <T>(data: T[]) => ({ data, meta: { next_cursor: null } });

export class World extends FakeApi {
  readonly sessions = new Map<string, Session>();
  readonly logs = new Map<string, Event[]>();
  readonly queues = new Map<string, { version: number; list: QueuedInput[] }>();
  readonly tasks = new Map<string, Task[]>();
  readonly shares = new Map<string, Share[]>();
  readonly feedback: Feedback[] = [];
  agents = ['default', 'demo'];
  /** What the agent answers; null for an answer that is not complete yet. */
  answers: (text: string) => string | null = (text) => `You said: "${text}"`;
  #ids = 0;

  constructor() {
    super();
    this.#serveSessions();
    this.#serveRuns();
    this.#serveTasks();
    this.#serveShares();
  }

  id(kind: string): string {
    return `${kind}-${++this.#ids}`;
  }

  createSession(more: Partial<Session> = {}): Session {
    const now = Date.now();
    const session: Session = {
      id: this.id('session'),
      user_id: 'alice',
      app_name: 'default',
      agent: '',
      name: '',
      status: 'idle',
      active_run_id: null,
      metadata: {},
      fork: null,
      epoch: 0,
      head_seq: 0,
      created_time: now,
      updated_time: now + this.#ids,
      ...more,
    };
    this.sessions.set(session.id, session);
    return session;
  }

  session(id: string): Session {
    const session = this.sessions.get(id);
    if (!session) throw new Error(`there is no session ${id}`);
    return session;
  }

  log(id: string): Event[] {
    const log = this.logs.get(id) ?? [];
    this.logs.set(id, log);
    return log;
  }

  /** Appends an entry, and sends it to the watchers. */
  append(id: string, invocation: string, entry: Partial<Event>): Event {
    const session = this.session(id);
    const seq = ++session.head_seq;
    const event: Event = {
      id: this.id('event'),
      seq,
      session_id: id,
      invocation_id: invocation,
      author: 'user',
      content: null,
      actions: {},
      status: 'completed',
      created_time: Date.now(),
      ...entry,
    };
    this.log(id).push(event);
    this.push(id, { type: 'item.snapshot', ...this.#at(session, 1), item: event });
    return event;
  }

  /** Appends turns of a question and an answer each; returns their invocations. */
  say(id: string, ...turns: [question: string, answer: string][]): string[] {
    return turns.map(([question, answer]) => {
      const invocation = this.id('turn');
      this.append(id, invocation, saying('user', question));
      this.append(id, invocation, saying('demo', answer));
      return invocation;
    });
  }

  /** The texts that users have said in a session. */
  said(id: string): string[] {
    return this.log(id)
      .filter(({ author }) => author === 'user')
      .map(textIn);
  }

  /** Starts a run, as another tab would. */
  start(id: string, input: Input[], agent = ''): string {
    const session = this.session(id);
    const run = this.id('run');
    Object.assign(session, { status: 'in_progress', active_run_id: run });
    for (const event of input) this.append(id, run, event as Partial<Event>);
    this.#tellStatus(session, run);
    const answer = this.answers(input.map(textIn).join('\n'));
    if (answer !== null) this.end(id, answer, agent);
    return run;
  }

  /** Ends the active run with an answer, or with a failure, and starts the next of the queue. */
  end(id: string, answer: string, agent = '', failed = false): void {
    const session = this.session(id);
    const run = session.active_run_id ?? '';
    if (answer) this.append(id, run, saying(agent || session.agent || 'default', answer));
    Object.assign(session, { status: failed ? 'failed' : 'idle', active_run_id: null });
    this.#tellStatus(session, run);
    const next = failed ? undefined : this.queues.get(id)?.list[0];
    if (!next) return;
    this.dequeue(id, next.run_id);
    this.start(id, next.input ?? [], next.agent);
  }

  enqueue(id: string, ...inputs: Input[]): string {
    const { version, list } = this.queues.get(id) ?? { version: 0, list: [] };
    const run_id = this.id('run');
    const waiting = { run_id, agent: '', input: inputs, queued_time: Date.now() };
    this.#setQueue(id, version, [...list, waiting]);
    return run_id;
  }

  dequeue(id: string, run: string): void {
    const { version, list } = this.queues.get(id) ?? { version: 0, list: [] };
    this.#setQueue(
      id,
      version,
      list.filter(({ run_id }) => run_id !== run),
    );
  }

  thread(id: string): Thread {
    const session = this.session(id);
    const { version, list } = this.queues.get(id) ?? { version: 0, list: [] };
    const { status } = session;
    const run = session.active_run_id ?? (this.log(id).at(-1)?.invocation_id || '');
    return {
      session: { ...session },
      status,
      items: [...this.log(id)],
      cursor: `${session.epoch}.${session.head_seq}.0`,
      run:
        status === 'idle'
          ? null
          : {
              id: run,
              session_id: id,
              agent: session.agent,
              mode: 'agent',
              status: status === 'failed' ? 'failed' : 'in_progress',
              error: status === 'failed' ? { code: 'fake', message: 'It failed.' } : null,
              started_time: 1,
              ended_time: null,
            },
      queued: list,
      queue_version: version,
    };
  }

  catchUp(id: string, cursor: string): void {
    const session = this.session(id);
    const [, after = 0] = cursor.split('.').map(Number);
    for (const item of this.log(id)) {
      const at = `${session.epoch}.${item.seq}.0`;
      const prev = `${session.epoch}.${item.seq - 1}.0`;
      if (item.seq > after) this.push(id, { type: 'item.snapshot', cursor: at, prev, item });
    }
    this.#tellStatus(session, session.active_run_id ?? '');
    const { version, list } = this.queues.get(id) ?? { version: 0, list: [] };
    if (version > 0) this.#setQueue(id, version - 1, list);
  }

  #at({ epoch, head_seq }: Session, step = 0) {
    return { cursor: `${epoch}.${head_seq}.0`, prev: `${epoch}.${head_seq - step}.0` };
  }

  #tellStatus(session: Session, run_id: string): void {
    const { id, status } = session;
    const error = status === 'failed' ? { code: 'fake', message: 'It failed.' } : null;
    this.push(id, { type: 'thread.status', ...this.#at(session), status, run_id, error });
  }

  #setQueue(id: string, version: number, list: QueuedInput[]): void {
    this.queues.set(id, { version: version + 1, list });
    const queued = { queued: list, queue_version: version + 1 };
    this.push(id, { type: 'thread.queue', ...this.#at(this.session(id)), ...queued });
  }

  #serveSessions(): void {
    this.on('GET /sessions', ({ query: { q = '', shared } }) => {
      const words = q.toLowerCase().split(' ');
      const found = [...this.sessions.values()].filter(
        ({ access, name }) =>
          (access !== undefined) === (shared === 'true') &&
          words.every((word) => name.toLowerCase().includes(word)),
      );
      return [200, page(found.sort((a, b) => b.updated_time - a.updated_time))];
    });
    this.on('POST /sessions', ({ body }) => {
      const { name = '', agent = '' } = body as { name?: string; agent?: string };
      return [201, { data: { ...this.createSession({ name, agent }) } }];
    });
    this.on('GET /sessions/{session_id}', async ({ params: [id = ''] }) => {
      const session = this.sessions.get(id);
      return session
        ? [200, { data: { ...session } }, { ETag: `"${session.updated_time}"` }]
        : problem(404, 'no such session');
    });
    this.on('PATCH /sessions/{session_id}', ({ params: [id = ''], body }) => {
      const session = this.session(id);
      const { retention, ...rest } = body;
      Object.assign(session, rest, { updated_time: session.updated_time + 1 });
      if (retention === null) delete session.retention;
      else if (retention !== undefined) session.retention = retention;
      return [200, { data: { ...session } }];
    });
    this.on('GET /sessions/{session_id}/thread', ({ params: [id = ''], query }) => {
      if (!this.sessions.has(id)) return problem(404, 'no such session');
      const thread = this.thread(id);
      const items = query.order === 'desc' ? thread.items.toReversed() : thread.items;
      return [200, { data: { ...thread, items }, meta: { next_cursor: null } }];
    });
    this.on('GET /v1/models', () => {
      const data = this.agents.map((id) => ({ id, object: 'model' }));
      return [200, { object: 'list', data } as never];
    });
    this.on('GET /a2a/{agent}/.well-known/agent-card.json', ({ params: [agent = ''] }) => {
      return [200, { name: agent, description: `The agent ${agent}`, skills: [] } as never];
    });
  }

  #serveRuns(): void {
    const answer = (id: string) => ({ data: this.thread(id), meta: { next_cursor: null } });
    this.on('POST /sessions/{session_id}/runs', ({ params: [id = ''], body }) => {
      const { agent = '', on_active, expected_seq } = body as RunRequest;
      const input = inputsOf(body);
      const session = this.session(id);
      const waits = session.active_run_id !== null || (this.queues.get(id)?.list.length ?? 0) > 0;
      if (expected_seq !== undefined && expected_seq !== session.head_seq) {
        return problem(409, 'the log has moved');
      }
      if (!(waits && on_active === 'enqueue') && session.active_run_id)
        return problem(409, 'a run is active');
      const run_id =
        waits && on_active === 'enqueue'
          ? this.enqueue(id, ...input)
          : this.start(id, input, agent);
      return [202, { ...answer(id), run_id }];
    });
    this.on(
      'POST /sessions/{session_id}/runs/{run_id}/cancel',
      ({ params: [id = '', run = ''] }) => {
        if (this.session(id).active_run_id === run) this.end(id, '');
        else this.dequeue(id, run);
        return [200, answer(id)];
      },
    );
  }

  #serveTasks(): void {
    this.on('GET /sessions/{session_id}/tasks', ({ params: [id = ''] }) => {
      return [200, { tasks: this.tasks.get(id) ?? [], next_cursor: null }];
    });
    this.on('GET /sessions/{session_id}/tasks/{task_id}', ({ params: [id = '', task] }) => {
      const found = this.tasks.get(id)?.find(({ task_id }) => task_id === task);
      return found ? [200, { ...found, session_id: id }] : problem(404, 'no such task');
    });
    this.on('POST /sessions/{session_id}/tasks', ({ params: [id = ''], body }) => {
      const { task_id, created_time, updated_time } = this.task(id, body);
      return [201, { task_id, session_id: id, created_time, updated_time }];
    });
    this.on('POST /feedback', ({ body }) => {
      const { taskId, sessionId = null, feedbackType: type, feedbackText: text = '' } = body;
      this.give(sessionId ?? '', taskId, type, text ?? '');
      return [202, { status: 'accepted', feedback_id: this.id('feedback') }];
    });
    this.on('GET /feedback', ({ query: { type, cursor = '0', limit = '20' } }) => {
      const all = this.feedback.filter((one) => !type || one.type === type);
      const end = Number(cursor) + Number(limit);
      const next_cursor = end < all.length ? String(end) : null;
      return [200, { feedback: all.slice(Number(cursor), end), next_cursor }];
    });
  }

  task(id: string, save: TaskSave): Task {
    const { user_message = null, task_metadata = null } = save;
    const task = { created_time: 1, updated_time: 1, ...save, user_message, task_metadata };
    const others = (this.tasks.get(id) ?? []).filter(({ task_id }) => task_id !== task.task_id);
    this.tasks.set(id, [...others, task]);
    return task;
  }

  give(id: string, task_id: string, type: Feedback['type'], text = ''): void {
    this.feedback.unshift({ task_id, session_id: id, type, text, created_time: Date.now() });
    const task = this.tasks.get(id)?.find((one) => one.task_id === task_id);
    if (task) task.task_metadata = { ...task.task_metadata, feedback: { type, text } };
  }

  #serveShares(): void {
    this.on('GET /sessions/{session_id}/shares', ({ params: [id = ''] }) => {
      return [200, page(this.shares.get(id) ?? [])];
    });
    this.on('POST /sessions/{session_id}/shares', ({ params: [id = ''], body }) => {
      const { access, user_id, expires_in } = body as components['schemas']['ShareRequest'];
      const share: Share = {
        id: this.id('share'),
        session_id: id,
        kind: user_id ? 'user' : 'link',
        user_id: user_id ?? null,
        access,
        created_time: Date.now(),
        expires_time: expires_in ? Date.now() + expires_in * 1000 : null,
        ...(!user_id && { accepted_count: 0 }),
      };
      this.shares.set(id, [...(this.shares.get(id) ?? []), share]);
      return [201, { data: { ...share, ...(!user_id && { token: 'secret-token' }) } }];
    });
    this.on('DELETE /sessions/{session_id}/shares/{share_id}', ({ params: [id = '', share] }) => {
      this.shares.set(
        id,
        (this.shares.get(id) ?? []).filter((one) => one.id !== share),
      );
      return [204];
    });
  }
}

/** An event of a text. */
export function saying(author: string, text: string): Input & Partial<Event> {
  return { author, content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] } };
}

function textIn({ content }: Pick<Event, 'content'> | Input): string {
  const parts = (content?.parts ?? []) as { text?: string }[];
  return parts.map(({ text = '' }) => text).join('');
}
