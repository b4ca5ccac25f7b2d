// Where a watcher stands: epoch.seq.offset.

/** @returns {{epoch: number, seq: number, offset: number}} */
export function parseCursor(text) {
  const [epoch, seq, offset] = (text ?? '0.0.0').split('.').map(Number);
  return { epoch, seq, offset };
}

export function formatCursor({ epoch, seq, offset }) {
  return `${epoch}.${seq}.${offset}`;
}

/** Less than 0 where a stands before b, more where it stands behind. */
export function compareCursors(a, b) {
  return a.epoch - b.epoch || a.seq - b.seq || a.offset - b.offset;
}
