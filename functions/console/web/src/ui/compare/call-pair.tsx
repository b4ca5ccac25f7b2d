// Two calls of tools beside each other. Equal ones are folded.

import { argumentsIn, type CallPair, resultIn } from '../../store/compare/calls';
import { Texts } from './texts';

export function CallPairView({ pair }: { pair: CallPair }) {
  const { left, right, name, sameArguments, sameResult } = pair;
  const same = sameArguments && sameResult;
  return (
    <details class="compare-call" open={!same} data-testid="call-pair">
      <summary>
        <code dir="auto">{name}</code> <span>{describe(pair)}</span>
      </summary>
      <Texts
        label="Arguments"
        left={left && argumentsIn(left)}
        right={right && argumentsIn(right)}
        code
      />
      <Texts label="Result" left={left && resultIn(left)} right={right && resultIn(right)} code />
    </details>
  );
}

function describe({ left, right, sameArguments, sameResult }: CallPair): string {
  if (!right) return 'only on the left';
  if (!left) return 'only on the right';
  if (sameArguments) return sameResult ? 'the same' : 'same arguments, another result';
  return sameResult ? 'other arguments, same result' : 'other arguments, another result';
}
