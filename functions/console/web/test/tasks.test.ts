import { describe, expect, test } from 'vitest';
import type { Event, Task } from '../src/api/types';
import { Messages } from '../src/store/message';
import { feedbackOf, invocationOf, taskOf } from '../src/store/tasks';
import { type RunState, turnsOf } from '../src/store/turns';
import { event } from './fakes';

const IDLE: RunState = { status: 'idle', run: '', error: null };

function turn(events: Event[], state = IDLE) {
  const [first] = turnsOf(new Messages().of(events), state);
  if (!first) throw new Error('there is no turn');
  return first;
}

const asked = event('run', { text: 'Why?' });
const metadata = { kagent_invocation_id: 'run' };

describe('the task of a turn', () => {
  test('contains what was shown and names the run', () => {
    const answer = event('run', { author: 'demo', text: 'Because.' });
    expect(taskOf(turn([asked, answer]))).toEqual({
      task_id: 'run',
      user_message: 'Why?',
      message_bubbles: [
        { id: asked.id, type: 'user', text: 'Why?', metadata },
        { id: answer.id, type: 'agent', text: 'Because.', metadata },
      ],
      task_metadata: { status: 'completed', agent_name: 'demo' },
    });
  });

  test('keeps thoughts, calls and files as parts, and mentions artifacts', () => {
    const parts = [
      { text: 'Hm', thought: true },
      { function_call: { id: 'c', name: 'look_up', args: { q: 1 } } },
      { inline_data: { mime_type: 'text/plain', data: 'aGk=', display_name: 'hi.txt' } },
      { text: 'Done.' },
    ];
    const answer = event('run', {
      author: 'demo',
      content: { role: 'model', parts },
      actions: { artifact_delta: { 'plan.md': 2 } },
    });
    const [, said, made] = taskOf(turn([asked, answer])).message_bubbles;
    expect(said).toMatchObject({
      text: 'Done.',
      parts: [
        { kind: 'text', text: 'Hm', metadata: { thought: true } },
        { kind: 'data', data: { name: 'look_up', args: '{"q":1}', result: null } },
        { kind: 'file' },
        { kind: 'text', text: 'Done.' },
      ],
      files: [{ name: 'hi.txt', mime_type: 'text/plain', content: 'aGk=' }],
    });
    expect(made).toMatchObject({
      type: 'artifact_notification',
      artifactNotification: { name: 'plan.md', version: 2 },
    });
  });

  test('of a failed run contains the error', () => {
    const failed = turn([asked], {
      status: 'failed',
      run: 'run',
      error: { code: 'c', message: 'No agent.' },
    });
    expect(taskOf(failed)).toMatchObject({
      message_bubbles: [{ type: 'user' }, { type: 'agent', text: 'No agent.', isError: true }],
      task_metadata: { status: 'error' },
    });
  });

  test('stays within the limits of the contract', () => {
    const many = Array.from({ length: 120 }, () => event('run', { author: 'demo', text: '…' }));
    const task = taskOf(turn([event('run', { text: '😀'.repeat(10_001) }), ...many]));
    expect(task.message_bubbles).toHaveLength(100);
    expect(task.user_message).toBe('😀'.repeat(10_000));
  });

  test('keeps the feedback when saved again', () => {
    const task = taskOf(turn([asked]), 'other', { type: 'up', text: 'Good' });
    expect(task.task_id).toBe('other');
    expect(task.task_metadata?.feedback).toEqual({ type: 'up', text: 'Good', submitted: true });
  });
});

describe('a loaded task', () => {
  const task = (more: Partial<Task>): Task => ({
    task_id: 't',
    user_message: null,
    message_bubbles: [{ id: 'b', type: 'user' }],
    task_metadata: null,
    created_time: 1,
    updated_time: 1,
    ...more,
  });

  test('records the invocation named by its bubbles, otherwise its own', () => {
    expect(invocationOf(task({}))).toBe('t');
    const named = [
      { id: 'a', type: 'user' as const },
      { id: 'b', type: 'agent' as const, metadata },
    ];
    expect(invocationOf(task({ message_bubbles: named }))).toBe('run');
  });

  test('contains the feedback', () => {
    expect(feedbackOf(task({}))).toBeNull();
    expect(feedbackOf(task({ task_metadata: { feedback: { type: 'down' } } }))).toEqual({
      type: 'down',
      text: '',
    });
  });
});
