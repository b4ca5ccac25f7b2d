// The turns of a chat's whole log, kept up to date: the newest first, older ones on demand.

import { computed, effect, signal, untracked } from '@preact/signals-core';
import type { Api } from '../../api/client';
import { readRun } from '../../api/runs';
import type { Event, Run } from '../../api/types';
import type { Chat } from '../chat';
import { LogPages, merge } from '../log-pages';
import { errorsIn, type Trace, Traces } from './traces';

export class TurnsLog extends LogPages {
  /** Whether only turns with errors are listed. */
  readonly onlyErrors = signal(false);
  /** All turns that are loaded, oldest first. */
  readonly traces = computed(() => this.#traces.of(this.#log.value, this.#active.value));
  /** Those that are listed, newest first. */
  readonly list = computed(() => {
    const all = this.traces.value.toReversed();
    return this.onlyErrors.value ? all.filter((trace) => errorsIn(trace).length > 0) : all;
  });

  readonly #chat: Chat;
  readonly #own: Api;
  readonly #active = signal<Run | null>(null);
  readonly #traces = new Traces();
  // What the watch has reported since: a growing answer, and what follows it
  readonly #log = computed(() => {
    const entries = this.entries.value;
    const from = entries.find(({ status }) => status === 'in_progress')?.seq;
    const after = from ?? (entries.at(-1)?.seq ?? 0) + 1;
    const news = this.loaded.value ? this.#chat.items.value.filter(({ seq }) => seq >= after) : [];
    if (news.length === 0) return entries;
    const at = entries.findIndex(({ seq }) => seq >= after);
    const settled = at < 0 ? entries : entries.slice(0, at);
    return [...settled, ...merge(entries.slice(settled.length), news)] as readonly Event[];
  });

  constructor(chat: Chat, api: Api) {
    super(chat.id, api);
    this.#chat = chat;
    this.#own = api;
  }

  /** Loads the newest turns, and follows the chat until the returned function is called. */
  start(): () => void {
    const news = computed(() => {
      const { epoch, run } = this.#chat;
      return [epoch.value, run.value.status, run.value.run].join();
    });
    const stops = [
      this.follow(() => news.value),
      effect(() => {
        const { status, run } = this.#chat.run.value;
        untracked(() => void this.#readRun(status === 'in_progress' ? run : ''));
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Loads older turns until one is there. */
  trace(invocation: string): Trace | undefined {
    return this.traces.value.findLast((trace) => trace.invocation === invocation && !trace.marker);
  }

  // If that fails, the times of the run are shown once it has ended.
  async #readRun(run: string): Promise<void> {
    try {
      this.#active.value = run ? await readRun(this.#own, this.#chat.id, run) : null;
    } catch {
      this.#active.value = null;
    }
  }
}
