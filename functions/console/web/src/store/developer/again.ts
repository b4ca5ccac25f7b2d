// A turn that is asked again in a fork from before it, with another question, agent or state.

import { signal } from '@preact/signals-core';
import { RethreadError } from 'rethread';
import { type Api, uid } from '../../api/client';
import { errorText } from '../../api/error';
import { forkSession, previewFork } from '../../api/forks';
import { startRun } from '../../api/runs';
import { deleteSession } from '../../api/sessions';
import type { InputEvent, Session } from '../../api/types';
import { isQuestion } from '../message';
import { messagesOf, type Trace } from './traces';

export interface Wanted {
  text: string;
  /** The agent; '' for the session's. */
  agent: string;
  /** Changes of the state before the question. */
  state: Readonly<Record<string, unknown>>;
}

export class AskingAgain {
  /** The session that the fork would be; null until loaded. */
  readonly preview = signal<Session | null>(null);
  /** Why the preview could not be loaded; '' otherwise. */
  readonly failed = signal('');
  /** Chats that attempts have left behind. */
  readonly left = signal<readonly Session[]>([]);
  /** Whether a fork may have been made whose answer was lost. */
  readonly unsure = signal(false);
  /** Names of the question's files that only its session has, so that they are left out. */
  readonly files: readonly string[];

  readonly #trace: Trace;
  readonly #session: string;
  readonly #api: Api;
  #attempt: { wanted: string; fork: string; run: string; made: Session | null } | null = null;
  #going: Promise<Session> | null = null;

  constructor(trace: Trace, session: string, api: Api) {
    this.#trace = trace;
    this.#session = session;
    this.#api = api;
    this.files = partsOf(trace).flatMap((part) => (isOwnFile(part) ? nameOf(part) : []));
  }

  async loadPreview(): Promise<void> {
    this.failed.value = '';
    try {
      this.preview.value = await previewFork(this.#api, this.#session, this.#trace.invocation);
    } catch (error) {
      this.failed.value = errorText(error);
    }
  }

  /** Forks and asks once, however often it is called. Repeating it after a failure repeats nothing. */
  go(wanted: Wanted): Promise<Session> {
    this.#going ??= this.#go(wanted).finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  async #go(wanted: Wanted): Promise<Session> {
    const same = JSON.stringify(wanted);
    if (this.#attempt?.wanted !== same) {
      this.#attempt = { wanted: same, fork: uid(), run: uid(), made: null };
    }
    const attempt = this.#attempt;
    attempt.made ??= await this.#fork(attempt.fork);
    const { made } = attempt;
    try {
      const { agent } = wanted;
      const start = { key: attempt.run, active: 'reject', agent } as const;
      await startRun(this.#api, made.id, [inputOf(this.#trace, wanted)], start);
    } catch (error) {
      await this.#undo(made, error);
      throw error;
    }
    this.left.value = this.left.value.filter(({ id }) => id !== made.id);
    return made;
  }

  async #fork(key: string): Promise<Session> {
    const options = { before: this.#trace.invocation, name: '' };
    try {
      const made = await forkSession(this.#api, this.#session, options, key);
      this.unsure.value = false;
      return made;
    } catch (error) {
      this.unsure.value = !isRefusal(error);
      throw error;
    }
  }

  // Whether the question was asked is unknown without an answer: then the chat stays.
  async #undo(made: Session, error: unknown): Promise<void> {
    if (isRefusal(error)) {
      this.#attempt = null;
      try {
        await deleteSession(this.#api, made.id);
        return;
      } catch {
        // it is said below that it is still there
      }
    }
    const others = this.left.value.filter(({ id }) => id !== made.id);
    this.left.value = [...others, made];
  }
}

/** Whether an error says that nothing was done. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RethreadError && error.status >= 400 && error.status < 500;

type Part = Record<string, unknown>;

/** The question of a turn with another text. What the text had beside it stays. */
function inputOf(trace: Trace, { text, state }: Wanted): InputEvent {
  const rest = partsOf(trace).filter((part) => !('text' in part) && !isOwnFile(part));
  return {
    author: 'user',
    content: { role: 'user', parts: [{ text }, ...rest] },
    ...(Object.keys(state).length > 0 && { actions: { state_delta: { ...state } } }),
  };
}

const partsOf = (trace: Trace): Part[] =>
  messagesOf(trace)
    .filter(isQuestion)
    .flatMap(({ event }) => (event.content?.parts as Part[] | undefined) ?? []);

// The artifacts of the turn are not among those that a fork from before it inherits.
const isOwnFile = ({ file_data: file }: Part): boolean =>
  typeof file === 'object' &&
  String((file as { file_uri?: unknown } | null)?.file_uri).startsWith('artifact://');

const nameOf = ({ file_data: file }: Part): string =>
  String((file as { display_name?: unknown }).display_name ?? 'a file');
