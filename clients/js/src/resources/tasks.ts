// Tasks: interactions as the user interface showed them, their messages and feedback.

import type { List } from '../http/list.js';
import type { CallOptions, WriteOptions } from '../http/transport.js';
import type { Feedback, FeedbackRequest, Message, Query, Task, TaskSave } from '../types.js';
import { Resource } from './resource.js';

const TASKS = '/sessions/{}/tasks';

/** A task's ids and times. */
export interface TaskSaved {
  task_id: string;
  session_id: string;
  created_time: number;
  updated_time: number;
}

type Next = { next_cursor: string | null };

export class Tasks extends Resource {
  /** The tasks that a session shows, oldest first. */
  list(sessionId: string, query?: Query<'listTasks'>, options?: CallOptions): List<Task> {
    return this.pages<Task, { tasks: Task[] } & Next>(
      TASKS,
      [sessionId],
      query,
      options,
      ({ tasks: data, next_cursor }) => ({ data, next_cursor }),
    );
  }

  get(
    sessionId: string,
    id: string,
    options?: CallOptions,
  ): Promise<Task & { session_id: string }> {
    return this.body(
      { method: 'GET', path: `${TASKS}/{}`, params: [sessionId, id], repeat: 'safe' },
      options,
    );
  }

  /** Creates or replaces a task. */
  save(sessionId: string, task: TaskSave, options?: WriteOptions): Promise<TaskSaved> {
    return this.body(
      { method: 'POST', path: TASKS, params: [sessionId], json: task, repeat: 'key' },
      options,
    );
  }

  delete(sessionId: string, id: string, options?: CallOptions): Promise<void> {
    return this.done(
      { method: 'DELETE', path: `${TASKS}/{}`, params: [sessionId, id], repeat: 'delete' },
      options,
    );
  }
}

export class Messages extends Resource {
  /** The bubbles of a session's tasks, oldest first. */
  list(sessionId: string, query?: Query<'listMessages'>, options?: CallOptions): List<Message> {
    return this.pages<Message, Message[]>(
      '/sessions/{}/messages',
      [sessionId],
      query,
      options,
      (data, { headers }) => ({ data, next_cursor: headers.get('X-Next-Cursor') }),
    );
  }
}

export class Feedbacks extends Resource {
  list(query?: Query<'listFeedback'>, options?: CallOptions): List<Feedback> {
    return this.pages<Feedback, { feedback: Feedback[] } & Next>(
      '/feedback',
      [],
      query,
      options,
      ({ feedback: data, next_cursor }) => ({ data, next_cursor }),
    );
  }

  give(feedback: FeedbackRequest, options?: WriteOptions): Promise<{ feedback_id: string }> {
    return this.body({ method: 'POST', path: '/feedback', json: feedback, repeat: 'key' }, options);
  }
}
