// A message with parsed positions.

import { type Cursor, parseCursor } from './cursor.js';
import type { WatchMessage } from './message.js';

export type Parsed = Omit<WatchMessage, 'cursor' | 'prev'> & { cursor: Cursor; prev: Cursor };

export function parsed(message: WatchMessage): Parsed {
  return { ...message, cursor: parseCursor(message.cursor), prev: parseCursor(message.prev) };
}
