import { describe, expect, test } from 'vitest';
import type { Event } from '../src/api/types';
import { answerText, Messages } from '../src/store/message';
import { questionsOf, responseOf } from '../src/store/questions';
import { turnsOf } from '../src/store/turns';
import { answerOf, fieldsOf } from '../src/ui/questions/schema';
import { type Answer, event, FakeServer, fakeChat, session } from './fakes';

const IDLE = { status: 'idle', run: '', error: null } as const;

function calls(invocation: string, all: object[], more: object = {}): Event {
  const parts = all.map((function_call) => ({ function_call }));
  const content = { role: 'model', parts } as unknown as Event['content'];
  return event(invocation, { author: 'demo', content, ...more });
}

function response(invocation: string, author: string, id: string, given: unknown): Event {
  const parts = [{ function_response: { id, name: 'ask', response: given } }];
  return event(invocation, { author, content: { parts } as unknown as Event['content'] });
}

const shown = (...events: Event[]) => turnsOf(new Messages().of(events), IDLE);
const asked = (...events: Event[]) => questionsOf(shown(...events).at(-1));

describe('the questions of a turn', () => {
  const ask = (id: string, args: object = {}) => ({ id, name: 'ask', args });

  test('are its calls without a result', () => {
    const events = [calls('a', [ask('1'), ask('2', { question: 'Which?' })])];
    events.push(response('a', 'demo', '1', { ok: true }));
    expect(asked(...events)).toMatchObject([{ id: '2', kind: 'call', text: 'Which?' }]);
  });

  test('are those that the agent says are waiting, if it says so', () => {
    const some = calls('a', [ask('1'), ask('2')], { long_running_tool_ids: ['2'] });
    expect(asked(some).map(({ id }) => id)).toEqual(['2']);
  });

  test('end with the answer of a person in a later invocation', () => {
    const events = [calls('a', [ask('1')]), response('b', 'user', '1', { result: 'Red' })];
    const turns = shown(...events);
    expect(turns.map(questionsOf)).toEqual([[], []]);
    expect(turns[1]?.messages[0]?.blocks).toEqual([{ kind: 'answer', text: 'Red' }]);
  });

  test('are none of a worker that was lost, once the next one has said something', () => {
    const ask1 = calls('a', [ask('1')]);
    const on = calls('a', [], { continuation: 1 });
    expect(asked(ask1, on)).toHaveLength(1);
    const said = calls('a', [ask('2')], { continuation: 1 });
    expect(asked(ask1, said)).toMatchObject([{ id: '2' }]);
    const cut = { status: 'failed', error: { code: 'interrupted', message: '' } };
    expect(asked(calls('a', [ask('1')], cut), on)).toEqual([]);
    const waits = calls('a', [ask('1')], { long_running_tool_ids: ['1'] });
    expect(asked(waits, said)).toMatchObject([{ id: '1' }]);
  });

  test('are none while the run goes on, or after it failed', () => {
    const [turn] = turnsOf(new Messages().of([calls('a', [ask('1')])]), {
      status: 'in_progress',
      run: 'a',
      error: null,
    });
    expect(questionsOf(turn)).toEqual([]);
  });

  test('name the call to confirm, which is no question itself', () => {
    const original = { id: 'c', name: 'delete', args: { path: '/' } };
    const args = { originalFunctionCall: original, toolConfirmation: { hint: 'Really?' } };
    const confirm = { id: 'q', name: 'adk_request_confirmation', args };
    expect(asked(calls('a', [original, confirm]))).toMatchObject([
      { id: 'q', kind: 'confirmation', text: 'Really?', about: { name: 'delete' } },
    ]);
  });

  test.each([
    [{ choices: ['a', 'b'] }, ['a', 'b']],
    [{ responseSchema: { type: 'string', enum: ['x', 'y'] } }, ['x', 'y']],
    [{ choices: [1, 2] }, []],
    [{ choices: [] }, []],
    ['not an object', []],
  ])('offer the choices of %j', (args, choices) => {
    expect(asked(calls('a', [{ id: '1', name: 'ask', args }]))[0]?.choices).toEqual(choices);
  });
});

describe('answers', () => {
  function asking(...ids: string[]) {
    const server = new FakeServer();
    const asks = calls(
      'a',
      ids.map((id) => ({ id, name: 'ask', args: {} })),
    );
    /** The thread as the server has it, newest items first. */
    const thread = { items: [asks], status: 'idle', session: session('s1', { head_seq: 7 }) };
    const refusals: Answer[] = [];
    server.answer = ({ path }) => {
      if (path.endsWith('/thread')) return [200, { data: thread }];
      if (path.endsWith('/runs')) return refusals.shift() ?? [202, { data: thread }];
      return [200, { data: session('s1') }];
    };
    const fake = fakeChat(server);
    fake.chat.session.value = session('s1');
    fake.show({ items: [asks] });
    const sent = () =>
      server.asked.filter(({ path }) => path.endsWith('/runs')).map(({ body }) => body);
    const [question] = fake.chat.questions.value;
    if (!question) throw new Error('no question');
    const told = () => fake.chat.trouble.text.value;
    return { ...fake, server, thread, asks, refusals, sent, question, told };
  }

  test('to the only question are sent at once', async () => {
    const { chat, sent, question } = asking('1');
    await Promise.all([
      chat.answers.give(question, { result: 'x' }),
      chat.answers.give(question, {}),
    ]);
    const function_response = { id: '1', name: 'ask', response: { result: 'x' } };
    expect(sent()).toMatchObject([{ input: [{ content: { parts: [{ function_response }] } }] }]);
    expect(sent()).toHaveLength(1);
    expect(sent()).toMatchObject([{ on_active: 'reject', expected_seq: 7 }]);
  });

  test('are not sent if the question is answered, and what was written stays', async () => {
    const { chat, thread, sent, question, told } = asking('1');
    thread.items.unshift(response('b', 'user', '1', { result: 'No' }));
    await chat.answers.give(question, { result: 'Yes, please' });
    expect(sent()).toEqual([]);
    expect(told()).toBe('The question has already been answered. Your answer was not sent.');
    expect(chat.draft.value).toBe('Yes, please');
    expect(chat.sending.value).toBe(false);
  });

  test('are not asked for again before the watch reports that of another, unless it is rewound', async () => {
    const { chat, thread, asks, show, question } = asking('1');
    thread.items.unshift(response('b', 'user', '1', { result: 'No' }));
    await chat.answers.give(question, { result: 'Yes' });
    expect(chat.questions.value).toEqual([]);
    show({ items: [asks], epoch: 1 });
    expect(chat.questions.value).toHaveLength(1);
  });

  test.each<[string, (thread: ReturnType<typeof asking>['thread']) => void]>([
    ['other input', ({ items }) => items.unshift(event('b', { text: 'And?' }))],
    ['a rewind', ({ items }) => items.pop()],
    ['a run', ({ session: of }) => Object.assign(of, { active_run_id: 'r' })],
    ['input that waits', (thread) => Object.assign(thread, { queued: [{ run_id: 'r' }] })],
  ])('are not sent if %s has closed the question', async (_, change) => {
    const { chat, thread, sent, question, told } = asking('1');
    change(thread);
    await chat.answers.give(question, { confirmed: true });
    expect(sent()).toEqual([]);
    expect(told()).toBe('The chat has gone on since the question. Your answer was not sent.');
    expect(chat.draft.value).toBe('');
    expect(chat.questions.value).toHaveLength(1);
  });

  test('are sent again if the log has gone on and the question is open', async () => {
    const { chat, thread, server, sent, question, told } = asking('1');
    const { answer } = server;
    server.answer = (asked) => {
      if (!asked.path.endsWith('/runs') || thread.session.head_seq === 8) return answer(asked);
      thread.session.head_seq = 8;
      return [409, { status: 409, detail: 'the head of the log is 8, not 7', head_seq: 8 }];
    };
    await chat.answers.give(question, { confirmed: true });
    expect(sent()).toMatchObject([{ expected_seq: 7 }, { expected_seq: 8 }]);
    expect(told()).toBe('');
  });

  test('are not sent again if another one has won', async () => {
    const { chat, thread, server, sent, question, told } = asking('1');
    const { answer } = server;
    server.answer = (asked) => {
      if (!asked.path.endsWith('/runs')) return answer(asked);
      thread.items.unshift(response('b', 'user', '1', { confirmed: false }));
      return [409, { status: 409, detail: 'a run is in progress', run_id: 'b' }];
    };
    await chat.answers.give(question, { confirmed: true });
    expect(sent()).toHaveLength(1);
    expect(told()).toBe('The question has already been answered. Your answer was not sent.');
  });

  test('give up when the log goes on with each attempt', async () => {
    const { chat, refusals, sent, question, told } = asking('1');
    const refusal: Answer = [409, { status: 409, detail: 'the log has gone on', head_seq: 8 }];
    refusals.push(refusal, refusal, refusal);
    await chat.answers.give(question, { confirmed: true });
    expect([sent().length, told()]).toEqual([3, 'the log has gone on']);
  });

  test('to several questions are sent together, once all are there', async () => {
    const { chat, sent } = asking('1', '2');
    const [first, second] = chat.questions.value;
    if (!first || !second) throw new Error('no questions');
    await chat.answers.give(first, { result: 1 });
    await chat.answers.send();
    expect([sent().length, chat.answers.missing.value]).toEqual([0, 1]);
    await chat.answers.give(second, { result: 2 });
    chat.answers.take(second);
    await chat.answers.give(second, { result: 3 });
    await chat.answers.send();
    const parts = [
      { function_response: { id: '1' } },
      { function_response: { response: { result: 3 } } },
    ];
    expect(sent()).toMatchObject([{ input: [{ content: { parts } }] }]);
  });

  test('that are refused can be given again', async () => {
    const { chat, refusals, question } = asking('1');
    refusals.push([422, { status: 422, detail: 'no' }]);
    await chat.answers.give(question, { result: 'x' });
    expect(chat.answers.given.value.size).toBe(0);
    expect(chat.questions.value).toHaveLength(1);
  });

  test('are not asked of readers', () => {
    const { chat } = asking('1');
    chat.session.value = session('s1', { access: 'read' } as object);
    expect(chat.questions.value).toEqual([]);
  });

  test.each([
    [{ confirmed: true }, 'Approved'],
    [{ confirmed: false }, 'Rejected'],
    [{ error: 'no' }, 'Declined'],
    [{ result: 'Red' }, 'Red'],
    [{ result: 3 }, '3'],
    [{ size: 3 }, '{"size":3}'],
    [null, 'null'],
  ])('%j reads %s', (given, text) => expect(answerText(given)).toBe(text));
});

describe('a form', () => {
  const schema = {
    type: 'object',
    required: ['size'],
    properties: {
      size: { type: 'integer' },
      colour: { type: 'string', enum: ['red', 'blue'] },
      gift: { type: 'boolean' },
      more: { type: 'array' },
    },
  };
  const read = (values: Record<string, string>) =>
    answerOf(fieldsOf(schema), ({ name }) => values[name] ?? '');

  test('has a field for each member', () => {
    expect(fieldsOf(schema).map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ['size', 'number', true],
      ['colour', 'choice', false],
      ['gift', 'boolean', false],
      ['more', 'json', false],
    ]);
  });

  test('leaves out what is empty', () => {
    expect(read({ size: '3', gift: 'false' })).toEqual({ size: 3, gift: false });
    expect(read({ size: '3', more: '[1]' })).toEqual({ size: 3, more: [1] });
  });

  test.each([
    [{ size: 'three' }, 'size: not a number.'],
    [{ size: '' }, 'size: not a number.'],
    [{ size: '1', more: '[' }, 'more: not valid JSON.'],
  ])('refuses %j', (values, message) => expect(() => read(values)).toThrow(message));

  test('is a text without a schema', () => {
    expect(responseOf(answerOf(fieldsOf(null), () => 'Hello'))).toEqual({ result: 'Hello' });
  });
});
