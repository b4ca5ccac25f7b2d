// The tree around the open session, kept up to date: the sessions related by forks, with their logs.

import { computed, effect, signal, untracked } from '@preact/signals-core';
import type { Api } from '../api/client';
import { errorText } from '../api/error';
import { readForks } from '../api/forks';
import { readLog } from '../api/rewind';
import type { Branch, Event } from '../api/types';
import type { Chat } from './chat';
import type { Sessions } from './sessions';
import { layoutOf } from './tree-layout';
import { treeOf } from './tree-model';

const AT_ONCE = 4; // requests

export class Tree {
  readonly #root = signal<Branch | null>(null);
  readonly #logs = signal<ReadonlyMap<string, readonly Event[]>>(new Map());
  readonly #toggled = signal<ReadonlySet<string>>(new Set());
  /** How many chats are being read, and how many of them have been. */
  readonly progress = signal({ read: 0, all: 0 });
  /** Why the last refresh failed; '' otherwise. */
  readonly failed = signal('');
  readonly model = computed(() => {
    const root = this.#root.value;
    return root && treeOf(root, this.#logs.value, this.#chat.id);
  });
  readonly layout = computed(
    () => this.model.value && layoutOf(this.model.value, this.#toggled.value),
  );

  readonly #chat: Chat;
  readonly #api: Api;
  readonly #sessions: Sessions | null;
  #reading: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  constructor(chat: Chat, api: Api, sessions: Sessions | null) {
    this.#chat = chat;
    this.#api = api;
    this.#sessions = sessions;
  }

  /** Loads the tree, again whenever something in it changes, until the returned function is called. */
  start(): () => void {
    // Changes of names, forks and other sessions' messages show in the list of sessions
    const news = computed(() => {
      const { epoch, turns, id } = this.#chat;
      const ids = new Set([id, ...branches(this.#root.value).map((branch) => branch.id)]);
      const listed = this.#sessions?.list.value ?? [];
      const family = listed.filter((s) => ids.has(s.id) || ids.has(s.fork?.session_id ?? ''));
      const marks = family.map((s) => `${s.id} ${s.name} ${s.updated_time} ${s.epoch}`).sort();
      return JSON.stringify([epoch.value, turns.value.at(-1)?.invocation, marks]);
    });
    const dispose = effect(() => {
      news.value;
      untracked(() => void this.refresh());
    });
    return () => {
      this.#stopped = true;
      dispose();
    };
  }

  /** Folds or unfolds what has a key. */
  toggle(key: string): void {
    const toggled = new Set(this.#toggled.value);
    if (!toggled.delete(key)) toggled.add(key);
    this.#toggled.value = toggled;
  }

  /** Loads new entries; a call during a refresh causes another one after it. */
  refresh(): Promise<void> {
    this.#again = this.#reading !== null;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
      if (this.#again && !this.#stopped) void this.refresh();
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    try {
      const root = await readForks(this.#api, this.#chat.id);
      const logs = await this.#readLogs(branches(root).filter(({ deleted }) => !deleted));
      if (this.#stopped) return;
      this.#logs.value = logs;
      this.#root.value = root;
      this.failed.value = '';
    } catch (error) {
      this.failed.value = errorText(error);
    }
  }

  async #readLogs(alive: Branch[]): Promise<Map<string, readonly Event[]>> {
    const logs = new Map<string, readonly Event[]>();
    const rest = [...alive];
    this.progress.value = { read: 0, all: alive.length };
    const work = async () => {
      for (let branch = rest.shift(); branch; branch = rest.shift()) {
        const known = this.#logs.value.get(branch.id) ?? [];
        const after = known.at(-1)?.seq ?? branch.forked_at_seq;
        logs.set(branch.id, [...known, ...(await readLog(this.#api, branch.id, after))]);
        this.progress.value = { read: logs.size, all: alive.length };
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return logs;
  }
}

function branches(root: Branch | null): Branch[] {
  return root ? [root, ...root.children.flatMap(branches)] : [];
}
