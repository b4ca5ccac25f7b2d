// The position of a watcher, in the form epoch.seq.offset.

/** Number of rewinds, position in the log, and number of deltas of the entry at that position. */
export interface Cursor {
  epoch: number;
  seq: number;
  offset: number;
}

export function parseCursor(text: string | null | undefined): Cursor {
  const [epoch = 0, seq = 0, offset = 0] = (text ?? '0.0.0').split('.').map(Number);
  return { epoch, seq, offset };
}

export function formatCursor({ epoch, seq, offset }: Cursor): string {
  return `${epoch}.${seq}.${offset}`;
}

/** Returns a number below 0 if a is before b, above 0 if it is after. */
export function compareCursors(a: Cursor, b: Cursor): number {
  return a.epoch - b.epoch || a.seq - b.seq || a.offset - b.offset;
}
