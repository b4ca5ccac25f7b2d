// What each branch took since they parted: turns, tokens, cost, time.

import type { Comparison } from '../../store/compare/comparison';
import { spentIn } from '../../store/developer/cost';
import { askedIn, type Trace } from '../../store/developer/traces';
import { waterfallOf } from '../../store/developer/waterfall';
import { useApp } from '../context';
import { Spending } from '../developer/spending';
import { duration } from '../kit/time';

const LONGEST = 200; // characters

export function Totals({ comparison }: { comparison: Comparison }) {
  const common = comparison.common.value;
  const { left, right } = comparison.after.value;
  return (
    <>
      <p class="compare-common">
        {common ? (
          <>
            The branches part after{' '}
            <q dir="auto">{askedIn(common).slice(0, LONGEST) || 'a turn without a question'}</q>
          </>
        ) : (
          'The branches have no turn in common.'
        )}
      </p>
      <div class="compare-pair" data-testid="totals">
        <Total column="left" turns={left} />
        <Total column="right" turns={right} />
      </div>
    </>
  );
}

function Total({ column, turns }: { column: 'left' | 'right'; turns: readonly Trace[] }) {
  const { config } = useApp();
  return (
    <p class="turns-total" data-column={column}>
      <b>{turns.length === 1 ? '1 turn' : `${turns.length} turns`}</b>
      <Spending spent={spentIn(turns, config.prices ?? {})} />
      <span>{timeOf(turns)}</span>
    </p>
  );
}

/** How long the runs of turns took. */
export function timeOf(turns: readonly Trace[]): string {
  const times = turns.map((turn) => waterfallOf(turn).took);
  const known = times.filter((time) => time !== null);
  if (known.length === 0) return 'time not recorded';
  const sum = duration(known.reduce((all, time) => all + time, 0));
  return known.length < times.length ? `${sum} in ${known.length} of them` : sum;
}
