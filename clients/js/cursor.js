// The position of a watcher, in the form epoch.seq.offset.

/** @returns {{epoch: number, seq: number, offset: number}} */
export function parseCursor(text) {
  const [epoch, seq, offset] = (text ?? '0.0.0').split('.').map(Number);
  return { epoch, seq, offset };
}

export function formatCursor({ epoch, seq, offset }) {
  return `${epoch}.${seq}.${offset}`;
}

/** Returns a number below 0 if a is before b, above 0 if it is after. */
export function compareCursors(a, b) {
  return a.epoch - b.epoch || a.seq - b.seq || a.offset - b.offset;
}
