// Tasks: records of each interaction as the user saw it, with feedback.

import { type Api, body, once } from './client';
import { at } from './sessions';
import type { Task, TaskSave } from './types';

export type FeedbackType = 'up' | 'down';

/** All effective tasks of a session, oldest first. */
export async function listTasks(api: Api, session: string): Promise<Task[]> {
  const found: Task[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: { cursor?: string } = cursor ? { cursor } : {};
    const params = { ...at(session), query };
    const page: { tasks: Task[]; next_cursor: string | null } = await body(
      api.GET('/sessions/{session_id}/tasks', { params }),
    );
    found.push(...page.tasks);
    cursor = page.next_cursor;
  }
  return found;
}

/** Creates or replaces a task. */
export async function saveTask(api: Api, session: string, task: TaskSave): Promise<void> {
  const params = { ...at(session), header: once() };
  await body(api.POST('/sessions/{session_id}/tasks', { params, body: task }));
}

export async function giveFeedback(
  api: Api,
  session: string,
  task: string,
  type: FeedbackType,
  text: string,
): Promise<void> {
  await body(
    api.POST('/feedback', {
      params: { header: once() },
      body: { taskId: task, feedbackType: type, feedbackText: text, sessionId: session },
    }),
  );
}
