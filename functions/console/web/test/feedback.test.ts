import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Event, TaskSave } from '../src/api/types';
import type { Chat } from '../src/store/chat';
import { type Asked, event, FakeServer, fakeChat, session } from './fakes';

let server: FakeServer;
let tasks: unknown[];

beforeEach(() => {
  server = new FakeServer();
  tasks = [];
  server.answer = answer;
});

function answer({ method, path, body }: Asked): [number, unknown] {
  if (path.endsWith('/runs')) {
    const [input] = (body as { input: Event[] }).input;
    const items = [{ ...event('run'), ...input, seq: 1 }];
    const active = session('s1', { status: 'in_progress', active_run_id: 'run' });
    return [202, { data: { session: active, items, run: null }, meta: {} }];
  }
  if (method === 'GET' && path.endsWith('/tasks')) return [200, { tasks, next_cursor: null }];
  if (path.endsWith('/tasks')) return [201, {}];
  if (path === '/feedback') return [202, { status: 'accepted', feedback_id: 'f' }];
  return [200, { data: session('s1') }];
}

const posted = (path: string) =>
  server.asked.filter((asked) => asked.method === 'POST' && asked.path === path);
const saves = () => posted('/sessions/s1/tasks').map(({ body }) => body as TaskSave);
const question = event('run', { text: 'Why?' });
const part = event('run', { author: 'demo', text: 'Bec', status: 'in_progress' });
const whole = { ...part, status: 'completed' } as const;
const running = { status: 'in_progress', run_id: 'run', status_seq: 1 } as const;
const idle = { status: 'idle', status_seq: 3 } as const;

function turnOf(chat: Chat) {
  const turn = chat.turns.value.at(-1);
  if (!turn) throw new Error('there is no turn');
  return turn;
}

describe('a task', () => {
  test('is saved only when a run started by this tab is over', async () => {
    const { chat, show } = fakeChat(server);
    await chat.send('Why?');
    show({ ...running, items: [question, part] });
    show({ ...idle, items: [question, part] }); // the status may arrive before items
    expect(saves()).toEqual([]);
    show({ ...idle, items: [question, whole] });
    show({ ...idle, items: [question, whole] });
    await vi.waitFor(() => expect(saves()).toHaveLength(1));
    expect(saves()[0]?.message_bubbles.map(({ text }) => text)).toEqual(['Why?', 'Bec']);
  });

  test('of a run started elsewhere is not saved by this tab', async () => {
    const { show } = fakeChat(server);
    show({ ...running, items: [question, part] });
    show({ items: [question, whole] });
    await vi.waitFor(() => expect(server.asked.length).toBeGreaterThan(1));
    expect(saves()).toEqual([]);
  });
});

describe('feedback', () => {
  test('is given to an existing task', async () => {
    const bubble = { id: 'b', type: 'agent', metadata: { kagent_invocation_id: 'run' } };
    const task_metadata = { feedback: { type: 'up', text: 'Nice' } };
    tasks = [{ task_id: 't9', message_bubbles: [bubble], task_metadata }];
    const { chat, show } = fakeChat(server);
    show({ items: [question, whole] });
    await vi.waitFor(() =>
      expect(chat.feedback.given.value.get('run')).toEqual({ type: 'up', text: 'Nice' }),
    );
    expect(await chat.feedback.give(turnOf(chat), 'down', 'Not so')).toBe(true);
    expect(saves()).toEqual([]);
    expect(posted('/feedback').map(({ body }) => body)).toEqual([
      { taskId: 't9', feedbackType: 'down', feedbackText: 'Not so', sessionId: 's1' },
    ]);
    expect(chat.feedback.given.value.get('run')).toEqual({ type: 'down', text: 'Not so' });
  });

  test('saves the task first if there is none', async () => {
    const { chat, show } = fakeChat(server);
    show({ items: [question, whole] });
    const both = await Promise.all([
      chat.feedback.give(turnOf(chat), 'up'),
      chat.feedback.give(turnOf(chat), 'up'),
    ]);
    expect(both).toEqual([true, false]);
    expect(saves().map(({ task_id }) => task_id)).toEqual(['run']);
    expect(posted('/feedback')).toHaveLength(1);
  });

  test('is not shown when it is rejected, with a toast', async () => {
    const { chat, toasts, show } = fakeChat(server);
    show({ items: [question, whole] });
    server.answer = (asked) =>
      asked.path === '/feedback' ? [503, { detail: 'Resting' }] : answer(asked);
    expect(await chat.feedback.give(turnOf(chat), 'up')).toBe(false);
    expect(chat.feedback.given.value.size).toBe(0);
    expect(toasts.list.value.map(({ text }) => text)).toEqual(['Resting']);
  });
});
