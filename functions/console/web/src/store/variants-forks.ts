// Reads the questions that related sessions have at places of the open one.

import { computed, effect, signal, untracked } from '@preact/signals-core';
import type { Api } from '../api/client';
import { readForks } from '../api/forks';
import { readRange } from '../api/rewind';
import type { Event } from '../api/types';
import type { LiveSession } from './live';
import type { Sessions } from './sessions';
import { type Candidate, candidatesOf } from './variants-elsewhere';
import { type Elsewhere, type Mark, markOf } from './variants-model';

/** Sessions that are asked at most, the newest. */
export const MOST_FORKS = 20;
const FIRST = 100; // entries among which the question of a session is looked for
const AT_ONCE = 4; // requests

export class VariantsForks {
  readonly list = signal<readonly Elsewhere[]>([]);
  readonly #chat: LiveSession;
  readonly #api: Api;
  readonly #sessions: Sessions | null;
  readonly #firsts = new Map<string, Elsewhere>();
  #stopped = false;

  constructor(chat: LiveSession, api: Api, sessions: Sessions | null) {
    this.#chat = chat;
    this.#api = api;
    this.#sessions = sessions;
  }

  /** Follows the list of sessions until the returned function is called. */
  start(): () => void {
    const family = computed(() => this.#family());
    const dispose = effect(() => {
      // If that fails, what is known stays; the next change reads again
      if (family.value) untracked(() => void this.refresh().catch(() => {}));
    });
    return () => {
      this.#stopped = true;
      dispose();
    };
  }

  async refresh(): Promise<void> {
    const root = await readForks(this.#api, this.#chat.id);
    const rest = candidatesOf(root, this.#chat.id).slice(0, MOST_FORKS);
    const found: Elsewhere[] = [];
    const work = async () => {
      for (let next = rest.shift(); next && !this.#stopped; next = rest.shift()) {
        const first = await this.#first(next);
        if (first) found.push(first);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (!this.#stopped) this.list.value = found;
  }

  // Whatever in the list of sessions tells of other forks, or of their first questions; '' without.
  #family(): string {
    const { id, session } = this.#chat;
    const origin = session.value?.fork?.session_id ?? '';
    const near = new Set([id, origin]);
    const listed = this.#sessions?.list.value ?? [];
    const family = listed.filter((s) => s.id !== id && s.fork && near.has(s.fork.session_id));
    if (!origin && family.length === 0) return '';
    return [origin, ...family.map((s) => `${s.id} ${s.updated_time}`).sort()].join();
  }

  // The first question that a session has asked there; once asked, it never changes.
  async #first(candidate: Candidate): Promise<Elsewhere | null> {
    const { branch, at, after } = candidate;
    const { id: session, name } = branch;
    const read = this.#firsts.get(session);
    if (read) return { ...read, name, at };
    try {
      const entries = await readRange(this.#api, session, after, after + FIRST);
      const first = firstOf(entries, candidate);
      if (!first) return null;
      const found = { session, name, at, invocation: first.invocation_id, time: first.time };
      this.#firsts.set(session, found);
      return found;
    } catch {
      return null; // the user may have no access to that session
    }
  }
}

// A question that follows a rewind was asked in another place.
function firstOf(entries: readonly Event[], { from, since }: Candidate): Mark | null {
  const begins = ({ invocation_id, created_time }: Event) =>
    created_time > since && (from === null || invocation_id === from);
  const begun = entries.findIndex(begins);
  const marks = begun < 0 ? [] : entries.slice(begun).map(markOf);
  const first = marks.find(({ boundary, kind }) => boundary !== undefined || kind === 'question');
  return first?.kind === 'question' ? first : null;
}
