// The inputs that wait in a session until the runs before them have ended.

import type { QueuedInput } from './message.js';

/** A list of queued inputs, as in a thread or a message. */
interface Queued {
  queue_version?: number;
  queued?: QueuedInput[];
}

export class Queue {
  #version = 0; // grows with each change; 0 for a session that never had one
  #inputs: QueuedInput[] = [];

  get version(): number {
    return this.#version;
  }

  get inputs(): QueuedInput[] {
    return this.#inputs;
  }

  /** Replaces the list unless it is as new as the other. Returns whether it did. */
  take({ queue_version: version = 0, queued = [] }: Queued): boolean {
    if (!(version > this.#version)) return false;
    this.#version = version;
    this.#inputs = queued;
    return true;
  }
}
