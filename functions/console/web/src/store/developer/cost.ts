// What turns cost: their tokens, and the deployer's prices for them.

import type { Event } from '../../api/types';
import type { Prices } from '../../config';
import { reportsOf, type Usage, usageOf } from '../usage';
import type { Trace } from './traces';

export interface Spent {
  /** Null if no event tells of tokens. */
  usage: Usage | null;
  /** In dollars, of the tokens that have a price; null if none has. */
  cost: number | null;
  /** Whether some tokens have no price. */
  partly: boolean;
}

/** The tokens of traces and what they cost. */
export function spentIn(traces: readonly Trace[], prices: Prices): Spent {
  const entries = traces.flatMap((trace) => trace.entries);
  const usage = usageOf(entries);
  const costs = traces.flatMap((trace) => trace.entries.flatMap((e) => costsOf(e, trace, prices)));
  const known = costs.filter((cost) => cost !== null);
  return {
    usage,
    cost: known.length > 0 ? known.reduce((sum, cost) => sum + cost, 0) : null,
    partly: known.length > 0 && known.length < costs.length,
  };
}

// The price of a model goes before that of the agent that has used it.
function costsOf(event: Event, { run }: Trace, prices: Prices): (number | null)[] {
  return reportsOf(event).map(({ model, usage }) => {
    const names = [model, run?.agent, event.author, 'default'];
    const name = names.find((one) => one !== undefined && Object.hasOwn(prices, one));
    return name === undefined ? null : costOf(usage, prices, name);
  });
}

/** What tokens cost at a price; null if there is no such price. */
export function costOf(usage: Usage, prices: Prices, name: string): number | null {
  const price = Object.hasOwn(prices, name) ? prices[name] : undefined;
  if (!price) return null;
  const cached = Math.min(usage.cached, usage.input);
  const input = (usage.input - cached) * price.input + cached * (price.cached ?? price.input);
  return (input + usage.output * price.output) / 1_000_000;
}

/** Dollars as text, with as many digits as small amounts need. */
export function dollars(amount: number): string {
  if (amount === 0) return '$0';
  const digits = amount >= 1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(amount)));
  return `$${amount.toFixed(digits)}`;
}
