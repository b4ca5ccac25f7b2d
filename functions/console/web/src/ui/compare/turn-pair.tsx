// Two turns beside each other: the question, the calls of tools, and the answer, with the words in which
// they differ.

import { memo } from 'preact/compat';
import { callPairs } from '../../store/compare/calls';
import { spentIn } from '../../store/developer/cost';
import { askedIn, errorsIn, messagesOf, type Trace } from '../../store/developer/traces';
import { textOf } from '../../store/message';
import { useApp } from '../context';
import { Spending } from '../developer/spending';
import { CallPairView } from './call-pair';
import { MarkdownTexts, Texts } from './texts';
import { timeOf } from './totals';

interface Props {
  /** The turn's number after what both have. */
  number: number;
  left: Trace | null;
  right: Trace | null;
}

export const TurnPair = memo(({ number, left, right }: Props) => {
  const calls = callPairs(left, right);
  return (
    <li>
      <article class="turn-pair" data-testid="pair">
        <h2 class="hidden">Turn {number}</h2>
        <Texts label="Question" left={left && askedIn(left)} right={right && askedIn(right)} />
        {calls.map((pair, i) => (
          <CallPairView key={i} pair={pair} />
        ))}
        <MarkdownTexts
          label="Answer"
          left={left && answerIn(left)}
          right={right && answerIn(right)}
        />
        <div class="compare-pair">
          <Facts column="left" trace={left} />
          <Facts column="right" trace={right} />
        </div>
      </article>
    </li>
  );
});

function Facts({ column, trace }: { column: 'left' | 'right'; trace: Trace | null }) {
  const { config } = useApp();
  return (
    <div class="turn-facts" data-column={column}>
      {trace && (
        <>
          {errorsIn(trace).map((error) => (
            <b key={error} data-status="failed" dir="auto">
              {error}
            </b>
          ))}
          <Spending spent={spentIn([trace], config.prices ?? {})} />
          <span>{timeOf([trace])}</span>
        </>
      )}
    </div>
  );
}

const answerIn = (trace: Trace): string =>
  messagesOf(trace)
    .filter(({ role }) => role === 'agent')
    .map(textOf)
    .filter(Boolean)
    .join('\n\n');
