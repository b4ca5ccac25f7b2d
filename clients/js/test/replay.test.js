// A stream that is cut twice, at any two places, gives its reader each thing once and in order.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RunReplay } from '../dist/ag-ui/replay.js';
import { MessageReplay } from '../dist/ai-sdk/replay.js';

const chunk = (type, more = {}) => ({ type, ...more });
const words = (type, id, ...deltas) => deltas.map((delta) => chunk(type, { ...id, delta }));

const message = (...pieces) => [
  chunk('start', { messageId: 'r' }),
  chunk('data-rethread-run', { data: { run_id: 'r' } }),
  chunk('start-step'),
  chunk('reasoning-start', { id: 'a' }),
  ...words('reasoning-delta', { id: 'a' }, ...pieces[0]),
  chunk('reasoning-end', { id: 'a' }),
  chunk('text-start', { id: 'b' }),
  ...words('text-delta', { id: 'b' }, ...pieces[1]),
  chunk('text-end', { id: 'b' }),
  chunk('file', { url: 'u' }),
  chunk('file', { url: 'v' }),
  chunk('finish-step'),
  chunk('start-step'),
  chunk('tool-input-start', { toolCallId: 'k' }),
  chunk('tool-input-available', { toolCallId: 'k', input: {} }),
  chunk('tool-output-available', { toolCallId: 'k', output: 1 }),
  chunk('finish-step'),
  chunk('start-step'),
  chunk('text-start', { id: 'c' }),
  ...words('text-delta', { id: 'c' }, ...pieces[1]),
  chunk('text-end', { id: 'c' }),
  chunk('finish-step'),
  chunk('finish'),
];

const text = (what, more) => chunk(`TEXT_MESSAGE_${what}`, { messageId: 'm', ...more });
const run = (...pieces) => [
  chunk('RUN_STARTED', { runId: 'r' }),
  chunk('REASONING_START', { messageId: 't' }),
  chunk('REASONING_MESSAGE_START', { messageId: 't' }),
  ...words('REASONING_MESSAGE_CONTENT', { messageId: 't' }, ...pieces[0]),
  chunk('REASONING_MESSAGE_END', { messageId: 't' }),
  chunk('REASONING_END', { messageId: 't' }),
  text('START'),
  ...words('TEXT_MESSAGE_CONTENT', { messageId: 'm' }, ...pieces[1]),
  text('END'),
  chunk('TOOL_CALL_START', { toolCallId: 'k' }),
  ...words('TOOL_CALL_ARGS', { toolCallId: 'k' }, ...pieces[2]),
  chunk('TOOL_CALL_END', { toolCallId: 'k' }),
  chunk('TOOL_CALL_RESULT', { messageId: 'n', toolCallId: 'k' }),
  chunk('CUSTOM', { name: 'x', value: 1 }),
  chunk('CUSTOM', { name: 'x', value: 1 }),
  chunk('RUN_FINISHED', { runId: 'r' }),
];

const fine = [
  ['Hm', 'm.'],
  ['One ', 'two ', 'two ', 'three.'],
  ['{"a"', ':', '1}'],
];
const coarse = fine.map((deltas) => [deltas.join('')]);
const other = fine.map((deltas) => deltas.join('').split(/(?<=^.{5})/));

/** The events with the pieces of each text joined. */
function joined(events) {
  const all = [];
  for (const event of events) {
    const last = all.at(-1);
    const same = last && 'delta' in event && last.type === event.type;
    if (same) all[all.length - 1] = { ...last, delta: last.delta + event.delta };
    else all.push(event);
  }
  return all;
}

for (const [what, stream, make] of [
  ['a message of the AI SDK', message, () => new MessageReplay()],
  ['a run of AG-UI', run, () => new RunReplay([])],
]) {
  test(`${what} that is cut twice`, (t) => {
    const [first, second, third] = [stream(...fine), stream(...other), stream(...coarse)];
    const whole = make();
    whole.connect();
    const want = joined(first.flatMap((event) => whole.take(event)));
    assert.equal(want.length, joined(first).length);
    let cases = 0;
    for (let one = 0; one < first.length; one++) {
      for (let two = 0; two < second.length; two++, cases++) {
        const replay = make();
        const got = [first.slice(0, one), second.slice(0, two), third].flatMap((events) => {
          replay.connect();
          return events.flatMap((event) => replay.take(event));
        });
        assert.deepEqual(joined(got), want, `cut after ${one} and ${two}`);
      }
    }
    t.diagnostic(`${cases} cases`);
    assert.ok(cases >= 396, `${cases} cases`);
  });
}
