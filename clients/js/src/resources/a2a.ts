// Tasks in the form of the Agent2Agent protocol, and what its clients read first. For the protocol
// itself use one of its SDKs, with `client.fetch` as its fetch.

import { agentSegment } from '../http/arguments.js';
import type { CallOptions } from '../http/transport.js';
import type { operations } from '../schema.js';
import type { A2ATask } from '../types.js';
import { Resource } from './resource.js';

type SaveTask = operations['saveA2ATask']['requestBody']['content']['application/json'];

export class A2A extends Resource {
  /** The tasks that a session shows, oldest first. */
  tasks(sessionId: string, options?: CallOptions): Promise<A2ATask[]> {
    const path = '/api/sessions/{}/tasks';
    return this.data(this.#read(path, [sessionId]), options);
  }

  task(id: string, options?: CallOptions): Promise<A2ATask> {
    return this.data(this.#read('/api/tasks/{}', [id]), options);
  }

  /** Creates or replaces a task. */
  saveTask(task: SaveTask, options?: CallOptions): Promise<A2ATask> {
    return this.data(
      { method: 'POST', path: '/api/tasks', json: task, repeat: 'safe', base: 'root' },
      options,
    );
  }

  deleteTask(id: string, options?: CallOptions): Promise<void> {
    const path = '/api/tasks/{}';
    return this.done(
      { method: 'DELETE', path, params: [id], repeat: 'delete', base: 'root' },
      options,
    );
  }

  /** The card of an agent, by default of the default one. */
  card(agent?: string, options?: CallOptions): Promise<Record<string, unknown>> {
    const card = '/.well-known/agent-card.json';
    const call = agent ? this.#read(`/a2a/{}${card}`, [agentSegment(agent)]) : this.#read(card);
    return this.body({ ...call, base: 'streamRoot' }, options);
  }

  /** The public keys that sign push notifications. */
  keys(options?: CallOptions): Promise<{ keys: Record<string, unknown>[] }> {
    return this.body({ ...this.#read('/a2a/.well-known/jwks.json'), base: 'streamRoot' }, options);
  }

  #read(path: string, params: string[] = []) {
    return { method: 'GET', path, params, repeat: 'safe', base: 'root' } as const;
  }
}
