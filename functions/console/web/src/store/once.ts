// The idempotency key of a write that a user may request again: the key stays the same while the
// outcome is unknown, so that a repeat changes nothing, and is new after an answer.

import { RethreadError } from 'rethread';
import { uid } from '../api/client';

export class Once {
  #sent = { body: '', key: '' };

  /**
   * Makes a write with its key.
   * @param body the content, by which a repeat is told from another write
   */
  async write<T>(body: unknown, send: (key: string) => Promise<T>): Promise<T> {
    const text = JSON.stringify(body);
    if (this.#sent.key === '' || this.#sent.body !== text) this.#sent = { body: text, key: uid() };
    try {
      const result = await send(this.#sent.key);
      this.#sent.key = '';
      return result;
    } catch (error) {
      if (isAnswer(error)) this.#sent.key = '';
      throw error;
    }
  }
}

// Whether the server has refused a write, rather than perhaps executed it.
const isAnswer = (error: unknown): boolean =>
  error instanceof RethreadError && error.status >= 400 && error.status < 500;
