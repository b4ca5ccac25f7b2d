// The variants of the questions of a chat, kept up to date, and the way from one to another.

import { computed, type ReadonlySignal, signal } from '@preact/signals-core';
import { ConflictError } from 'rethread';
import { type Api, uid } from '../api/client';
import { rewindSession } from '../api/rewind';
import type { LiveSession } from './live';
import type { Sessions } from './sessions';
import type { Toasts } from './toasts';
import type { Undo } from './undo';
import { VariantsForks } from './variants-forks';
import { VariantsLog } from './variants-log';
import { type Group, groupsOf, type Variant } from './variants-model';

/** What variants need of the chat. */
interface Asked extends LiveSession {
  readonly running: ReadonlySignal<boolean>;
  readonly undo: Undo;
}

interface VariantsDeps {
  api: Api;
  toasts: Toasts;
  sessions: Sessions | null;
}

export class Variants {
  /** The groups of the shown questions, by invocation. */
  readonly groups = computed(() => this.#groups());
  /** The arrow that gets the focus when the variant it has led to is shown. */
  readonly focus = signal<{ invocation: string; step: number } | null>(null);
  readonly busy = signal(false);
  readonly log: VariantsLog;
  readonly forks: VariantsForks;

  readonly #chat: Asked;
  readonly #deps: VariantsDeps;
  // A growing answer changes no variants
  readonly #shown = computed(() => {
    const items = this.#chat.items.value;
    return [items[0]?.seq, items.length, items.at(-1)?.seq, this.#chat.older.more.value].join();
  });
  #before: ReadonlyMap<string, Group> = new Map();

  constructor(chat: Asked, deps: VariantsDeps) {
    this.#chat = chat;
    this.#deps = deps;
    this.log = new VariantsLog(chat, deps.api);
    this.forks = new VariantsForks(chat, deps.api, deps.sessions);
  }

  /** Follows the chat and its forks until the returned function is called. */
  start(): () => void {
    const stops = [this.log.start(), this.forks.start()];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Shows a hidden variant, with what followed it when it was last shown. */
  async show({ invocation }: Variant, step: number): Promise<void> {
    const { toasts } = this.#deps;
    if (this.busy.value) return;
    if (this.#chat.running.peek()) {
      toasts.say('Wait for the answer, or stop it, to see another variant.');
      return;
    }
    this.busy.value = true;
    try {
      await this.log.refresh();
      const before = this.#hiddenBy(invocation);
      if (!before) return; // another tab has shown it
      this.focus.value = { invocation, step };
      await this.#switch(before);
    } catch (error) {
      this.focus.value = null;
      if (error instanceof ConflictError && error.headSeq !== undefined) {
        toasts.say('The chat has gone on meanwhile. Nothing was changed.');
      } else {
        toasts.fail(error);
      }
    } finally {
      this.busy.value = false;
    }
  }

  async #switch(before: string): Promise<void> {
    const { api } = this.#deps;
    const expectedSeq = this.log.read.peek().to;
    const options = { before, conflicts: 'keep', cancelRun: false, expectedSeq } as const;
    const { event, session } = await rewindSession(api, this.#chat.id, options, uid());
    this.#chat.changed(session);
    const step = { marker: event.invocation_id, since: event.seq, own: new Set<string>() };
    this.#chat.undo.did(step, 'Another variant is shown.');
  }

  // The marker that hid a question last; undefined if it is shown. The log may have been read further
  // than the watch has reported.
  #hiddenBy(invocation: string): string | undefined {
    const { marks, whole } = this.log.marks();
    for (const { variants, index } of groupsOf(marks, whole, this.forks.list.peek()).values()) {
      const at = variants.findIndex((v) => v.invocation === invocation);
      if (at >= 0) return at === index ? undefined : variants[at]?.hiddenBy;
    }
    return undefined;
  }

  // While a rewind is not read yet, the groups stay as they were.
  #groups(): ReadonlyMap<string, Group> {
    const { epoch } = this.log.read.value;
    const elsewhere = this.forks.list.value;
    this.#shown.value;
    if (epoch === this.#chat.epoch.value) {
      const { marks, whole } = this.log.marks();
      this.#before = groupsOf(marks, whole, elsewhere);
    }
    return this.#before;
  }
}
