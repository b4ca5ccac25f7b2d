import type { QueuedInput } from 'rethread';
import { beforeEach, describe, expect, test } from 'vitest';
import { event, FakeServer, fakeChat, session } from './fakes';

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
});

const waits = (run: string, ...texts: string[]): QueuedInput => ({
  run_id: run,
  agent: 'demo',
  input: texts.map((text) => ({
    id: `${run} input`,
    author: 'user',
    content: { role: 'user', parts: [{ text }] },
  })),
  queued_time: 7,
});

// Answers a cancellation with a list of a version.
const answers = (queue_version: number, ...queued: QueuedInput[]) => {
  const data = { session: session('s1'), status: 'idle', items: [], queued, queue_version };
  server.answer = () => [200, { data, meta: { next_cursor: null } }];
};

const cancels = () =>
  server.asked.filter(({ path }) => path.endsWith('/cancel')).map(({ path }) => path);

// Answers a start by queueing its input behind others, or by beginning its run.
function queues(queue_version: number, before: QueuedInput[] = []): void {
  server.answer = ({ path, body }) => {
    if (!path.endsWith('/runs')) return [200, { data: session('s1') }];
    const { input } = body as { input: QueuedInput['input'] };
    const queued = [...before, { ...waits('new'), input }];
    const active = session('s1', { status: 'in_progress', active_run_id: 'run' });
    const data = { session: active, status: 'in_progress', items: [], queued, queue_version };
    return [202, { data, meta: { next_cursor: null } }];
  };
}

const modes = () =>
  server.asked
    .filter(({ path }) => path.endsWith('/runs'))
    .map(({ body }) => (body as { on_active: string }).on_active);

describe('a question during an answer', () => {
  const running = { status: 'in_progress', run_id: 'run', status_seq: 1 } as const;

  test('is queued: shown at once, and until it arrives from the watch', async () => {
    const { chat, show } = fakeChat(server);
    const items = [event('run', { text: 'Why?' })];
    show({ ...running, items });
    queues(1);
    expect(chat.queues.value).toBe(true);
    const sent = chat.send('And how?');
    const shown = () => chat.queue.list.value.map(({ run, text }) => `${run}: ${text}`);
    expect(shown()).toEqual([': And how?']);
    expect(await sent).toBe(true);
    expect([shown(), modes()]).toEqual([['new: And how?'], ['enqueue']]);
    expect(chat.messages.value.length).toBe(1);
    expect([chat.sending.value, chat.state.value.run]).toEqual([false, 'run']);
    expect(chat.started.has('new')).toBe(true);
    show({ ...running, items, queue_version: 2 });
    expect(shown()).toEqual([]);
  });

  test('that the watch shows before the response is shown once', async () => {
    const { chat, show } = fakeChat(server);
    show(running);
    server.answer = ({ path, body }) => {
      if (!path.endsWith('/runs')) return [200, { data: session('s1') }];
      const { input } = body as { input: QueuedInput['input'] };
      show({ ...running, queued: [{ ...waits('new'), input }], queue_version: 1 });
      expect(chat.queue.list.value.map(({ run }) => run)).toEqual(['new']);
      return [503, { status: 503, detail: 'try again' }];
    };
    await chat.send('And how?');
    expect(chat.queue.list.value.map(({ run }) => run)).toEqual(['new']);
  });

  test('that begins before the response arrives is not taken for the run before', async () => {
    const { chat, show } = fakeChat(server);
    show(running);
    queues(1);
    const sent = chat.send('And how?');
    show({ ...running, run_id: 'new', status_seq: 5, queue_version: 2 });
    await sent;
    expect(chat.queue.list.value).toEqual([]);
    expect([chat.state.value.run, chat.messages.value]).toEqual(['new', []]);
  });

  test('is removed from the queue when it is rejected, with the reason', async () => {
    const { chat, show } = fakeChat(server);
    show(running);
    server.answer = () => [409, { status: 409, detail: 'the queue is full' }];
    expect(await chat.send('And how?')).toBe(false);
    expect(chat.queue.list.value).toEqual([]);
    expect(chat.trouble.text.value).toBe('the queue is full');
  });

  test('is not queued but first if the queue waits behind a failure', async () => {
    const { chat, show } = fakeChat(server);
    const error = { code: 'c', message: 'm' };
    show({ status: 'failed', run_id: 'run', error, queued: [waits('a')], queue_version: 1 });
    expect(chat.queues.value).toBe(false);
    await chat.send('Instead?');
    expect(modes()).toEqual(['reject']);
  });
});

describe('queued questions', () => {
  test('are shown in their order, with their texts', () => {
    const { chat, show } = fakeChat(server);
    const file = { inline_data: { mime_type: 'a/b', data: '', display_name: 'plan.pdf' } };
    const asked = { author: 'user', content: { parts: [{ text: 'Read this' }, file] } };
    const queued = [waits('a', 'Why?', 'And how?'), { ...waits('b'), input: [asked] }];
    show({ status: 'in_progress', run_id: 'run', queued, queue_version: 2 });
    expect(chat.queue.list.value).toEqual([
      { run: 'a', text: 'Why?\n\nAnd how?', time: 7 },
      { run: 'b', text: 'Read this\n\nplan.pdf', time: 7 },
    ]);
    show({ queue_version: 3 });
    expect(chat.queue.list.value).toEqual([]);
  });

  test('without content do not break the list', () => {
    const { chat, show } = fakeChat(server);
    const odd = [{}, { author: 'user', content: 'text' }] as unknown as QueuedInput['input'];
    const none = undefined as unknown as QueuedInput['input'];
    const queued = [
      { ...waits('a'), input: odd },
      { ...waits('b'), input: none },
    ];
    show({ queued, queue_version: 1 });
    expect(chat.queue.list.value.map(({ text }) => text)).toEqual(['', '']);
  });

  test('are removed once, and shown as of the newest version', async () => {
    const { chat, show } = fakeChat(server);
    show({ queued: [waits('a'), waits('b')], queue_version: 2 });
    answers(4, waits('c'));
    const cancelled = Promise.all([chat.queue.cancel('a'), chat.queue.cancel('a')]);
    expect([...chat.queue.cancelling.value]).toEqual(['a']);
    await cancelled;
    expect(cancels()).toEqual(['/sessions/s1/runs/a/cancel']);
    expect(chat.queue.list.value.map(({ run }) => run)).toEqual(['c']);
    show({ queued: [waits('b')], queue_version: 3 });
    expect(chat.queue.list.value.map(({ run }) => run)).toEqual(['c']);
  });

  test('stay if they cannot be removed, with the reason', async () => {
    const { chat, show } = fakeChat(server);
    show({ queued: [waits('a')], queue_version: 1 });
    server.answer = () => [403, { status: 403, detail: 'not yours' }];
    await chat.queue.cancel('a');
    expect(chat.queue.list.value.length).toBe(1);
    expect([...chat.queue.cancelling.value]).toEqual([]);
    expect(chat.trouble.text.value).toBe('not yours');
  });
});
