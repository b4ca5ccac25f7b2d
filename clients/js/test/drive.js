// Reads operations, one JSON object a line, applies each to a state that holds only the end of a
// session, and writes the resulting state as a line of JSON.

import { createInterface } from 'node:readline';

import { WatchState } from 'rethread';

let state = new WatchState();
for await (const line of createInterface({ input: process.stdin })) {
  const shown = take(JSON.parse(line));
  const { needsThread, deleted, repairAt, cursor, older, size } = state;
  const is = { needs_thread: needsThread, deleted, repair_at: repairAt, cursor, older, size };
  process.stdout.write(`${JSON.stringify({ ...is, shown })}\n`);
}

function take({ op, now, frame, page, from }) {
  switch (op) {
    case 'new':
      state = new WatchState();
      return null;
    case 'apply':
      state.apply(frame, now);
      return null;
    case 'replace':
      state.replace([page], now, page.older);
      return null;
    case 'prepend':
      state.prepend(page.items, from, page.older, now);
      return null;
    case 'reread':
      state.reread();
      return null;
    case 'lost':
      state.lost();
      return null;
    case 'repairing':
      state.repairing(now);
      return null;
    case 'show':
      return state.show();
    default:
      throw new Error(`unknown operation ${op}`);
  }
}
