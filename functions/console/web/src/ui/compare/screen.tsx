// Two branches side by side; on narrow screens one of them, with a switch.

import { useEffect, useState } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { type Branch, isSame } from '../../store/compare/branch';
import { Comparison } from '../../store/compare/comparison';
import { BackToChat } from '../chat/back';
import { Bar } from '../chat/header';
import { useApp } from '../context';
import { addressOf } from '../history/address';
import { useTitle } from '../kit/hooks';
import { branchIn, comparePath } from './address';
import { Choice } from './choice';
import { Ends } from './ends';
import { Totals } from './totals';
import { TurnPair } from './turn-pair';
import '../../styles/developer.css';
import '../../styles/compare.css';

export function CompareScreen() {
  const [params] = useSearchParams();
  const left = branchIn(params, 'left');
  const right = branchIn(params, 'right') ?? left;
  useTitle('Compare branches');
  useEffect(() => document.querySelector<HTMLElement>('.compare h1')?.focus(), []);
  return (
    <main class="chat compare">
      <Bar>
        {left && <BackToChat href={addressOf(left.session)} />}
        <h1 tabIndex={-1}>
          <span class="title">Compare branches</span>
        </h1>
      </Bar>
      <div class="compare-page">
        {left && right ? (
          <Sides key={params.toString()} left={left} right={right} />
        ) : (
          <p class="hint">The address names no chat.</p>
        )}
      </div>
    </main>
  );
}

export type Side = 'left' | 'right';

function Sides({ left, right }: { left: Branch; right: Branch }) {
  const { api } = useApp();
  const [, navigate] = useLocation();
  const [side, setSide] = useState<Side>('left');
  const [comparison] = useState(() => new Comparison(left, right, api));
  useEffect(() => {
    void comparison.load();
    return comparison.follow();
  }, [comparison]);
  const choose = (to: { left?: Branch; right?: Branch }) =>
    navigate(comparePath(to.left ?? left, to.right ?? right), { replace: true });
  return (
    <div class="compare-sides" data-side={side}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div class="compare-switch segmented" role="group" aria-label="Branch that is shown">
        {(['left', 'right'] as const).map((one) => (
          <button
            type="button"
            key={one}
            class="button small"
            aria-pressed={side === one}
            onClick={() => setSide(one)}
          >
            {one === 'left' ? 'Left branch' : 'Right branch'}
          </button>
        ))}
      </div>
      <div class="compare-pair">
        <Choice
          side="left"
          line={comparison.left}
          comparison={comparison}
          choose={(branch) => choose({ left: branch })}
        />
        <Choice
          side="right"
          line={comparison.right}
          comparison={comparison}
          choose={(branch) => choose({ right: branch })}
        />
      </div>
      {isSame(left, right) ? (
        <p class="hint">Choose two different branches.</p>
      ) : (
        <Result comparison={comparison} />
      )}
    </div>
  );
}

function Result({ comparison }: { comparison: Comparison }) {
  const failed = comparison.failed.value;
  if (failed) {
    return (
      <p class="notice" role="alert">
        {failed}{' '}
        <button type="button" class="button small" onClick={() => void comparison.load()}>
          Try again
        </button>
      </p>
    );
  }
  if (!comparison.ready.value) {
    return (
      <p class="hint" role="status">
        Loading the branches…
      </p>
    );
  }
  if (comparison.missing.value) return <p class="hint">One of the branches does not exist.</p>;
  return <Compared comparison={comparison} />;
}

function Compared({ comparison }: { comparison: Comparison }) {
  const pairs = comparison.pairs.value;
  return (
    <>
      <Totals comparison={comparison} />
      <ol class="compare-turns" data-testid="pairs">
        {pairs.map(([left, right], i) => (
          <TurnPair key={`${left?.key} ${right?.key}`} number={i + 1} left={left} right={right} />
        ))}
      </ol>
      {pairs.length === 0 && <p class="hint">Both have the same turns.</p>}
      <Ends comparison={comparison} />
    </>
  );
}
