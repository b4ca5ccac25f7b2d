// The content of an item in progress, built from its deltas.

const encoder = new TextEncoder();

/** Content to which deltas can be added. */
export class Content {
  #role;
  #parts = [];
  #size = 0;

  /** @param {string} role the author's role, such as "model" */
  constructor(role = '') {
    this.#role = role;
  }

  /** Returns the content of a snapshot; null if deltas cannot produce such content. */
  static resume(snapshot) {
    if (!isObject(snapshot)) return null;
    const { role = '', parts = [], ...rest } = snapshot;
    if (typeof role !== 'string' || !Array.isArray(parts) || Object.keys(rest).length > 0) return null;
    const content = new Content(role);
    const whole = parts.every((part, i) => isObject(part) && content.append({ part: i, ...part }));
    return whole ? content : null;
  }

  /** Size of the texts, ids and names in bytes of UTF-8. */
  get size() {
    return this.#size;
  }

  /** Applies a delta. Returns false and changes nothing if it does not continue the content. */
  append(delta) {
    const call = delta.function_call;
    const kind = call ? 'function_call' : delta.thought ? 'thought' : 'text';
    const added = call ? (call.args_text ?? '') : delta.text;
    const begins = delta.part === this.#parts.length;
    if (typeof added !== 'string' || !(begins || delta.part in this.#parts)) return false;
    if (begins) {
      if (call && !call.name) return false;
      this.#parts.push({ kind, id: call?.id ?? '', name: call?.name ?? '', text: '' });
    } else if (this.#parts[delta.part].kind !== kind || call?.id || call?.name) {
      return false;
    }
    this.#parts[delta.part].text += added;
    this.#size += bytes(added) + bytes(call?.id) + bytes(call?.name);
    return true;
  }

  /** Returns the content so far, {role, parts}; function calls have args_text instead of args. */
  snapshot() {
    const parts = this.#parts.map(({ kind, id, name, text }) => {
      if (kind !== 'function_call') return kind === 'thought' ? { thought: true, text } : { text };
      return { function_call: { ...(id && { id }), ...(name && { name }), args_text: text } };
    });
    return this.#role ? { role: this.#role, parts } : { parts };
  }
}

export function isObject(v) {
  return typeof v === 'object' && v !== null && !Array.isArray(v);
}

function bytes(text) {
  return text ? encoder.encode(text).length : 0;
}
