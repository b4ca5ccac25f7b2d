// Tokens and what they cost.

import { dollars, type Spent } from '../../store/developer/cost';

export function Spending({ spent }: { spent: Spent }) {
  const { usage, cost, partly } = spent;
  if (!usage) return <span>no tokens recorded</span>;
  return (
    <>
      <span>
        {usage.input.toLocaleString()} in · {usage.output.toLocaleString()} out
        <span class="hidden"> (tokens)</span>
      </span>
      {cost !== null && (
        <span title={partly ? 'Some tokens have no price.' : undefined}>
          {partly && 'at least '}
          {dollars(cost)}
        </span>
      )}
    </>
  );
}
