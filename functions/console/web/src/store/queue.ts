// The questions that wait until the answers before them are complete.

import { computed, signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import { cancelRun } from '../api/runs';
import type { InputEvent } from '../api/types';
import { textOfInput } from './message';
import type { Trouble } from './trouble';

/** A question that waits, as shown. */
export interface Question {
  /** Its run; '' until the server has accepted it. */
  run: string;
  text: string;
  /** When it was accepted, in epoch milliseconds. */
  time: number;
}

/** A question that waits, of the watch or of a response. */
interface Waiting {
  run_id: string;
  queued_time: number;
  input?: readonly { id?: unknown; content?: unknown }[] | undefined;
}

/** The list as of one version; the newest version counts. */
interface Known {
  queued: readonly Waiting[];
  queue_version: number;
}

export class Queue {
  readonly #known = signal<Known>({ queued: [], queue_version: 0 });
  readonly #sending = signal<readonly InputEvent[] | null>(null);
  /** Runs whose cancellation is under way. */
  readonly cancelling = signal<ReadonlySet<string>>(new Set());

  /** The questions in their order, the one being sent last. */
  readonly list = computed<readonly Question[]>(() => {
    const sending = this.#sending.value;
    const list = this.#known.value.queued.map(({ run_id, input, queued_time }) => {
      return { run: run_id, text: textOfInput(input ?? []), time: queued_time };
    });
    if (!sending || runOf(sending, this.#known.value.queued)) return list;
    return [...list, { run: '', text: textOfInput(sending), time: Date.now() }];
  });

  readonly #session: string;
  readonly #api: Api;
  readonly #trouble: Trouble;

  constructor(session: string, api: Api, trouble: Trouble) {
    this.#session = session;
    this.#api = api;
    this.#trouble = trouble;
  }

  /** Takes the list of the watch or of a response, unless a newer one is known. */
  take({ queued = [], queue_version = 0 }: Partial<Known>): void {
    if (queue_version > this.#known.value.queue_version) {
      this.#known.value = { queued, queue_version };
    }
  }

  /** Shows an input that is being sent; null when it has been answered. */
  sends(input: readonly InputEvent[] | null): void {
    this.#sending.value = input;
  }

  /** Removes a question. If its run has begun meanwhile, that is cancelled. */
  async cancel(run: string): Promise<void> {
    if (this.cancelling.value.has(run)) return;
    this.#cancels(run, true);
    try {
      this.take(await cancelRun(this.#api, this.#session, run));
    } catch (error) {
      this.#trouble.fail(error);
    } finally {
      this.#cancels(run, false);
    }
  }

  #cancels(run: string, yes: boolean): void {
    const others = [...this.cancelling.value].filter((other) => other !== run);
    this.cancelling.value = new Set(yes ? [...others, run] : others);
  }
}

/** The run for which an input waits, found by the id of its newest event; '' if it does not wait. */
export function runOf(input: readonly InputEvent[], queued: readonly Waiting[] = []): string {
  const id = input.at(-1)?.id;
  return queued.find((waiting) => waiting.input?.some((event) => event.id === id))?.run_id ?? '';
}
