// The answers to the agent's open questions. They are sent together, because the agent takes a
// question that the next input leaves out for cancelled.

import { computed, signal } from '@preact/signals-core';
import type { InputEvent } from '../api/types';
import { answering, type Question, type Response } from './questions';

interface Asked {
  questions: { readonly value: readonly Question[] };
  ask(input: InputEvent[]): Promise<unknown>;
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

  constructor(chat: Asked) {
    this.#chat = chat;
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
      await this.#chat.ask([answering(answers)]);
    } finally {
      this.sending.value = false;
      this.given.value = new Map(); // what was refused is asked again
    }
  }
}
