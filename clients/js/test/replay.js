// Replays schedules recorded by the Go client, and fails if this client's state differs after any
// step: node test/replay.js schedules.json

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { WatchState } from 'rethread';

const schedules = JSON.parse(readFileSync(process.argv[2], 'utf8'));
let steps = 0;
schedules.forEach((schedule, n) => {
  const state = new WatchState();
  schedule.steps.forEach((step, i) => {
    take(state, step);
    const is = { needs_thread: state.needsThread, repair_at: state.repairAt, cursor: state.cursor };
    const { needs_thread, repair_at, cursor } = step;
    assert.deepEqual(
      is,
      { needs_thread, repair_at, cursor },
      `schedule ${n}, after step ${i}: ${step.op}`,
    );
    steps++;
  });
  const { status_seq, ...shown } = state.show(); // the Go client does not show it
  assert.deepEqual(shown, { ...schedule.final, has_older: false }, `schedule ${n}, at the end`);
});
process.stdout.write(`${schedules.length} schedules, ${steps} steps\n`);

function take(state, { op, now, frame, pages }) {
  switch (op) {
    case 'apply':
      return state.apply(frame, now);
    case 'replace':
      return state.replace(
        pages.map(({ data }) => data),
        now,
      );
    case 'lost':
      return state.lost();
    case 'repairing':
      return state.repairing(now);
    default:
      throw new Error(`unknown step ${op}`);
  }
}
