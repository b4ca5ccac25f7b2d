// How two branches end: their state and their artifacts, where they differ.

import { useState } from 'preact/hooks';
import { readArtifact } from '../../api/artifacts';
import { readable, versionName } from '../../store/artifacts';
import type { Comparison, Difference, Known } from '../../store/compare/comparison';
import { kindOf } from '../artifact/kind';
import { useApp } from '../context';
import { useBusy } from '../kit/busy';
import { StateValue } from '../panel/state-value';
import { Texts } from './texts';

export function Ends({ comparison }: { comparison: Comparison }) {
  const differs = ({ left, right }: Difference) =>
    !left.known || !right.known || JSON.stringify(left.value) !== JSON.stringify(right.value);
  const state = comparison.state.value.filter(differs);
  const artifacts = comparison.artifacts.value.filter(differs);
  const unknown = [...state, ...artifacts].some(({ left, right }) => !left.known || !right.known);
  return (
    <section class="compare-ends" aria-label="At the end">
      <h2>State at the end</h2>
      {state.length === 0 && <p class="hint">There is no difference.</p>}
      {state.map((one) => (
        <Pair key={one.key} name={one.key} difference={one} />
      ))}
      <h2>Artifacts at the end</h2>
      {artifacts.length === 0 && <p class="hint">There is no difference.</p>}
      {artifacts.map((one) => (
        <Artifact key={one.key} comparison={comparison} difference={one} />
      ))}
      {unknown && (
        <button
          type="button"
          class="button small"
          disabled={comparison.loading.value}
          onClick={() => void comparison.lookBack()}
        >
          Look for unknown values further back
        </button>
      )}
    </section>
  );
}

interface PairProps {
  name: string;
  difference: Difference;
  show?: (value: unknown) => preact.ComponentChildren;
}

function Pair({ name, difference, show = (value) => <StateValue value={value} /> }: PairProps) {
  return (
    <div class="compare-end" data-testid="end">
      <h3 dir="auto">{name}</h3>
      <div class="compare-pair">
        {(['left', 'right'] as const).map((side) => (
          <div key={side} data-column={side}>
            <Value side={side} known={difference[side]} show={show} />
          </div>
        ))}
      </div>
    </div>
  );
}

interface ValueProps extends Required<Pick<PairProps, 'show'>> {
  side: 'left' | 'right';
  known: Known;
}

function Value({ side, known: { known, value }, show }: ValueProps) {
  if (!known) return <i>not loaded: set before the branches part, if at all</i>;
  if (value === undefined) return <i>none</i>;
  const Mark = side === 'left' ? 'del' : 'ins';
  return <Mark class="differs">{show(value)}</Mark>;
}

function Artifact({ comparison, difference }: { comparison: Comparison; difference: Difference }) {
  const { api, toasts } = useApp();
  const [texts, setTexts] = useState<{ left: string; right: string } | null>(null);
  const [busy, run] = useBusy(toasts);
  const { key, left, right } = difference;
  const [from, to] = [left.value, right.value];
  const both = typeof from === 'number' && typeof to === 'number';
  const compare = async (versions: { left: number; right: number }) => {
    const read = async (side: 'left' | 'right') => {
      const { session } = comparison[side].branch;
      const blob = await readArtifact(api, session, key, versions[side]);
      const kind = kindOf(blob.type, key);
      if (kind === 'picture' || kind === 'other') throw new Error('Only texts can be compared.');
      return blob.text();
    };
    const [a, b] = await Promise.all([read('left'), read('right')]);
    setTexts({ left: a, right: b });
  };
  return (
    <>
      <Pair
        name={readable(key).label}
        difference={difference}
        show={(version) => versionName(Number(version))}
      />
      {both && !texts && (
        <button
          type="button"
          class="button small"
          disabled={busy}
          onClick={() => run(() => compare({ left: from, right: to }))}
        >
          Compare the texts
        </button>
      )}
      {texts && <Texts label="Text" left={texts.left} right={texts.right} code />}
    </>
  );
}
