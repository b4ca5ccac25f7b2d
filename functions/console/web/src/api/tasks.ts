// Tasks: records of each interaction as the user saw it, with feedback.

import type { Api } from './client';
import type { Task, TaskSave } from './types';

export type FeedbackType = 'up' | 'down';

/** All effective tasks of a session, oldest first. */
export function listTasks(api: Api, session: string): Promise<Task[]> {
  return api.tasks.list(session).all();
}

export function readTask(api: Api, session: string, id: string): Promise<Task> {
  return api.tasks.get(session, id);
}

/** Creates or replaces a task. */
export async function saveTask(api: Api, session: string, task: TaskSave): Promise<void> {
  await api.tasks.save(session, task);
}

export async function giveFeedback(
  api: Api,
  session: string,
  task: string,
  type: FeedbackType,
  text: string,
): Promise<void> {
  await api.feedback.give({
    taskId: task,
    feedbackType: type,
    feedbackText: text,
    sessionId: session,
  });
}
