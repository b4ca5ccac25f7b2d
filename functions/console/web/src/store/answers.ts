// The answers to the agent's open questions. They are sent together, because the agent takes a
// question that the next input leaves out for cancelled.

import { computed, signal } from '@preact/signals-core';
import type { Api } from '../api/client';
import type { InputEvent } from '../api/types';
import type { Begun, Start } from './asked';
import { keepText } from './drafts';
import { answering, type Question, type Response } from './questions';
import { Answered, Closed, startAnswered } from './start-answered';
import type { Turn } from './turns';

interface Asked {
  id: string;
  draft: { value: string };
  turns: { readonly value: readonly Turn[] };
  questions: { readonly value: readonly Question[] };
  epoch: { readonly value: number };
  ask(input: InputEvent[], options: { start: Start }): Promise<Begun | null>;
}

export class Answers {
  /** By the ids of their questions; also while they are being sent. */
  readonly given = signal<ReadonlyMap<string, Response>>(new Map());
  readonly sending = signal(false);
  /** How many questions have no answer yet. */
  readonly missing = computed(
    () => this.#chat.questions.value.filter(({ id }) => !this.given.value.has(id)).length,
  );

  readonly #chat: Asked;
  readonly #api: Api;
  /** Questions that others have answered, until the watch reports the answer or a rewind. */
  readonly #closed = signal<{ ids: ReadonlySet<string>; epoch: number } | null>(null);

  constructor(chat: Asked, api: Api) {
    this.#chat = chat;
    this.#api = api;
  }

  /** Whether a question may be answered, as far as is known. */
  isOpen({ id }: Question): boolean {
    const closed = this.#closed.value;
    return closed?.epoch !== this.#chat.epoch.value || !closed.ids.has(id);
  }

  /** Answers a question. The answer to the only one is sent at once. */
  async give(question: Question, response: Response): Promise<void> {
    if (this.sending.value) return;
    this.given.value = new Map(this.given.value).set(question.id, response);
    if (this.#chat.questions.value.length === 1) await this.send();
  }

  /** Takes an answer back that was not sent yet. */
  take(question: Question): void {
    if (this.sending.value) return;
    const given = new Map(this.given.value);
    given.delete(question.id);
    this.given.value = given;
  }

  /** Sends the answers if none is missing. */
  async send(): Promise<void> {
    if (this.sending.value || this.missing.value > 0) return;
    const answers = this.#chat.questions.value.flatMap((question) => {
      const response = this.given.value.get(question.id);
      return response ? [[question, response] as const] : [];
    });
    if (answers.length === 0) return;
    this.sending.value = true;
    try {
      await this.#send(answers);
    } finally {
      this.sending.value = false;
      this.given.value = new Map(); // what was refused is asked again
    }
  }

  async #send(answers: readonly (readonly [Question, Response])[]): Promise<void> {
    const invocation = this.#chat.turns.value.at(-1)?.invocation ?? '';
    const calls = new Set(answers.map(([{ id }]) => id));
    const start: Start = async (input, agent) => {
      try {
        return await startAnswered(this.#api, this.#chat.id, { invocation, calls }, input, agent);
      } catch (error) {
        const epoch = this.#chat.epoch.value;
        if (error instanceof Answered) this.#closed.value = { ids: calls, epoch };
        if (error instanceof Closed) keepText(this.#chat.draft, writtenIn(answers));
        throw error;
      }
    };
    await this.#chat.ask([answering(answers)], { start });
  }
}

/** The texts that the user has written, without the choices. */
function writtenIn(answers: readonly (readonly [Question, Response])[]): string {
  const texts = answers.map(([{ choices }, { result }]) =>
    choices.length === 0 && typeof result === 'string' ? result : '',
  );
  return texts.filter(Boolean).join('\n\n');
}
