// The chunks of a message that is streamed again.

import type { UIMessageChunk } from 'ai';
import { type Meaning, Replay } from '../streams/replay.js';

/** The members of any chunk that are used. */
export type Chunk = { type: string } & Partial<
  Record<'id' | 'toolCallId' | 'delta' | 'inputTextDelta', string>
> & { data?: unknown };

/** The types of chunks that end a stream. */
export const LAST: readonly string[] = ['finish', 'abort', 'error'];

/** A section is a step of the message, after the chunks before the first step. */
export class MessageReplay extends Replay<UIMessageChunk> {
  #step = 0;
  #texts = new Map<string, string>(); // of the step: ids by the server's
  #state = ''; // that the reader has

  override connect(): void {
    super.connect();
    this.#step = 0;
    this.#texts.clear();
  }

  override take(chunk: UIMessageChunk): UIMessageChunk[] {
    const { type, data } = chunk as Chunk;
    if (type === 'data-rethread-state') {
      const before = this.#state;
      this.#state = JSON.stringify(data);
      return this.#state === before ? [] : [chunk];
    }
    if (type === 'start-step') this.#step++;
    if (type === 'start-step' || type === 'reset-step') this.#texts.clear();
    if (type !== 'reset-step') return super.take(this.#named(chunk));
    this.forget();
    return [chunk];
  }

  protected meaning(chunk: UIMessageChunk): Meaning {
    const { type, id = '', toolCallId, delta, inputTextDelta } = chunk as Chunk;
    const [kind, what] = [type.slice(0, type.indexOf('-')), type.slice(type.indexOf('-') + 1)];
    const text = `${kind} ${id}`;
    const key = `${type} ${toolCallId ?? id}`;
    if (type === 'start-step') return { key, section: 'begins' };
    if (type === 'finish-step') return { key, section: 'ends' };
    if (LAST.includes(type)) return { key, last: true };
    if (type === 'tool-input-delta') return { key, text: inputTextDelta ?? '', loose: true };
    if (kind !== 'text' && kind !== 'reasoning') return { key };
    if (what === 'start') return { key, opens: text };
    if (what === 'end') return { key, closes: text };
    return what === 'delta' ? { key: text, text: delta ?? '' } : { key };
  }

  protected withText(chunk: UIMessageChunk, text: string): UIMessageChunk {
    const name = chunk.type === 'tool-input-delta' ? 'inputTextDelta' : 'delta';
    return { ...chunk, [name]: text };
  }

  protected reset(step: number): UIMessageChunk[] | null {
    return step === 0 ? null : [{ type: 'reset-step' }];
  }

  protected reopen(): null {
    return null;
  }

  /** Names a text by its place, because a stored message does not have the ids of its texts. */
  #named(chunk: UIMessageChunk): UIMessageChunk {
    const { type, id = '' } = chunk as Chunk;
    if (!type.startsWith('text-')) return chunk;
    const name = this.#texts.get(id) ?? `${this.#step}:${this.#texts.size}`;
    this.#texts.set(id, name);
    return { ...chunk, id: name } as UIMessageChunk;
  }
}
