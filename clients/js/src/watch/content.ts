// The content of an item in progress, built from its deltas.

import type { ItemContent, ItemDelta } from './message.js';

interface GrowingPart {
  kind: 'text' | 'thought' | 'function_call';
  id: string;
  name: string;
  text: string;
}

/** Content to which deltas can be added. */
export class Content {
  readonly #role: string;
  readonly #parts: GrowingPart[] = [];
  readonly #encoder = new TextEncoder();
  #size = 0;

  /** @param role the author's role, such as "model" */
  constructor(role = '') {
    this.#role = role;
  }

  /** Returns the content of a snapshot; null if deltas cannot produce such content. */
  static resume(snapshot: unknown): Content | null {
    if (!isObject(snapshot)) return null;
    const { role = '', parts = [], ...rest } = snapshot;
    if (typeof role !== 'string' || !Array.isArray(parts) || Object.keys(rest).length > 0)
      return null;
    const content = new Content(role);
    const whole = parts.every(
      (part, i) => isObject(part) && content.append({ part: i, ...part } as ItemDelta),
    );
    return whole ? content : null;
  }

  /** Size of the texts, ids and names in bytes of UTF-8. */
  get size(): number {
    return this.#size;
  }

  /** Applies a delta. Returns false and changes nothing if it does not continue the content. */
  append(delta: ItemDelta): boolean {
    const call = delta.function_call;
    const kind = call ? 'function_call' : delta.thought ? 'thought' : 'text';
    const added = call ? (call.args_text ?? '') : delta.text;
    if (typeof added !== 'string') return false;
    let part = this.#parts[delta.part];
    if (delta.part === this.#parts.length) {
      if (call && !call.name) return false;
      part = { kind, id: call?.id ?? '', name: call?.name ?? '', text: '' };
      this.#parts.push(part);
    } else if (part?.kind !== kind || call?.id || call?.name) {
      return false;
    }
    part.text += added;
    for (const text of [added, call?.id, call?.name]) {
      if (text) this.#size += this.#encoder.encode(text).length;
    }
    return true;
  }

  /** Returns the content so far, {role, parts}; function calls have args_text instead of args. */
  snapshot(): ItemContent {
    const parts = this.#parts.map(({ kind, id, name, text }) => {
      if (kind !== 'function_call') return kind === 'thought' ? { thought: true, text } : { text };
      return { function_call: { ...(id && { id }), ...(name && { name }), args_text: text } };
    });
    return this.#role ? { role: this.#role, parts } : { parts };
  }
}

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === 'object' && v !== null && !Array.isArray(v);
}
