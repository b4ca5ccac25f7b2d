// The content of an item in progress: what its deltas make it.

const encoder = new TextEncoder();

/** A content grows by deltas and renders what it holds at any time. */
export class Content {
  #role;
  #parts = [];
  #size = 0;

  /** @param {string} role who speaks, such as "model" */
  constructor(role = '') {
    this.#role = role;
  }

  /** The content that a snapshot shows, ready to grow; null where it cannot. */
  static resume(snapshot) {
    if (!isObject(snapshot)) return null;
    const { role = '', parts = [], ...rest } = snapshot;
    if (typeof role !== 'string' || !Array.isArray(parts) || Object.keys(rest).length > 0) return null;
    const content = new Content(role);
    const whole = parts.every((part, i) => isObject(part) && content.append({ part: i, ...part }));
    return whole ? content : null;
  }

  /** Bytes of UTF-8 that the texts, ids and names take. */
  get size() {
    return this.#size;
  }

  /** Applies a delta; false, and nothing changes, where it does not continue the content. */
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

  /** The content so far, {role, parts}; calls have args_text and no args yet. */
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
