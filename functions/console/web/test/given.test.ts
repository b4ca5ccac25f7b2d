import { describe, expect, test, vi } from 'vitest';
import { GivenFeedback } from '../src/store/given';
import { Abouts } from '../src/store/given-about';
import { type Answer, type Asked, FakeServer, session } from './fakes';

const given = (task: string, more: object = {}) => ({
  task_id: task,
  session_id: 's',
  type: 'up' as const,
  text: '',
  created_time: 1,
  ...more,
});
const page = (feedback: object[], next: string | null = null): Answer => [
  200,
  { feedback, next_cursor: next },
];

describe('the list of given feedback', () => {
  const server = new FakeServer();

  test('has one entry for each message, with what was said before', async () => {
    const later = given('a', { text: 'Well said', created_time: 3 });
    const first = given('a', { created_time: 2 });
    const elsewhere = given('a', { session_id: 't' });
    server.answer = ({ query }) =>
      query.cursor ? page([first, elsewhere]) : page([later, given('b')], 'next');
    const list = new GivenFeedback(server.api);
    await list.refresh();
    await list.loadMore();
    expect(list.messages.value.map(({ newest, earlier }) => [newest, earlier])).toEqual([
      [later, [first]],
      [given('b'), []],
      [elsewhere, []],
    ]);
    expect(list.more.value).toBe(false);
  });

  test('of one type is read on through empty pages', async () => {
    server.asked.length = 0;
    server.answer = ({ query }) => (query.cursor ? page([given('a')]) : page([], 'next'));
    const list = new GivenFeedback(server.api, 'down');
    await list.refresh();
    expect(list.messages.value).toHaveLength(1);
    expect(server.asked.map(({ query }) => query.type)).toEqual(['down', 'down']);
  });

  test('stays when it cannot be read again', async () => {
    server.answer = () => page([given('a')]);
    const list = new GivenFeedback(server.api);
    await list.refresh();
    server.answer = () => [400, { detail: 'no' }];
    await list.refresh();
    expect([list.failed.value, list.messages.value.length]).toEqual(['no', 1]);
  });
});

describe('what feedback is about', () => {
  const task = {
    task_id: 'a',
    user_message: 'Where to?',
    message_bubbles: [{ id: 'b', type: 'user', metadata: { kagent_invocation_id: 'turn' } }],
  };

  async function aboutOf(answer: (asked: Asked) => Answer, more: object = {}) {
    const server = new FakeServer();
    server.answer = answer;
    const about = new Abouts(server.api).of('key', given('a', more));
    expect(about.value).toBeNull();
    await vi.waitFor(() => expect(about.value).not.toBeNull());
    return about.value;
  }
  const isTask = ({ path }: Asked) => path.includes('/tasks/');
  const found: Answer = [200, { data: session('s') }];

  test('is the question, at the invocation that the task records', async () => {
    const about = await aboutOf((asked) => (isTask(asked) ? [200, task] : found));
    expect(about).toEqual({
      state: 'shown',
      session: session('s'),
      question: 'Where to?',
      invocation: 'turn',
    });
  });

  test('may be hidden, deleted, ended or unknown', async () => {
    const missing: Answer = [404, { detail: 'none' }];
    expect(await aboutOf((asked) => (isTask(asked) ? missing : found))).toMatchObject({
      state: 'hidden',
      invocation: 'a',
    });
    expect(await aboutOf(() => missing)).toEqual({ state: 'deleted' });
    expect(await aboutOf(() => [403, {}])).toEqual({ state: 'ended' });
    expect(await aboutOf(() => missing, { session_id: null })).toEqual({ state: 'unknown' });
  });

  test('says why it cannot be shown, and is read again on demand', async () => {
    const server = new FakeServer();
    server.answer = () => [400, { detail: 'broken' }];
    const abouts = new Abouts(server.api);
    const about = abouts.of('key', given('a'));
    await vi.waitFor(() => expect(about.value).toEqual({ state: 'failed', reason: 'broken' }));
    server.answer = (asked) => (isTask(asked) ? [200, task] : found);
    abouts.again('key', given('a'));
    await vi.waitFor(() => expect(about.value?.state).toBe('shown'));
  });

  test('is read for a few messages at a time, and each chat once', async () => {
    const server = new FakeServer();
    const answers: (() => void)[] = [];
    server.answer = (asked) =>
      isTask(asked) ? new Promise((resolve) => answers.push(() => resolve([200, task]))) : found;
    const abouts = new Abouts(server.api);
    const all = [...'abcdef'].map((id) => abouts.of(id, given(id)));
    await vi.waitFor(() => expect(answers).toHaveLength(4));
    answers[0]?.();
    await vi.waitFor(() => expect(answers).toHaveLength(5));
    for (let i = 1; i < 5; i++) answers[i]?.();
    await vi.waitFor(() => expect(answers).toHaveLength(6));
    answers[5]?.();
    await vi.waitFor(() => expect(all.every(({ value }) => value?.state === 'shown')).toBe(true));
    expect(server.asked.filter((asked) => !isTask(asked))).toHaveLength(1);
  });
});
