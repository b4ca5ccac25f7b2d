// The tool calls of two turns beside each other.

import { messagesOf, type Trace } from '../developer/traces';
import type { CallBlock } from '../message';
import { align, type Pair } from './align';

export interface CallPair {
  left: CallBlock | null;
  right: CallBlock | null;
  name: string;
  sameArguments: boolean;
  sameResult: boolean;
}

export function callPairs(left: Trace | null, right: Trace | null): CallPair[] {
  const pairs = align(callsIn(left), callsIn(right), (a, b) => {
    if (a.call.name !== b.call.name) return 0;
    return a.call.args === b.call.args ? 2 : 1;
  });
  return pairs.map(pairOf);
}

function pairOf([left, right]: Pair<CallBlock>): CallPair {
  const both = left !== null && right !== null;
  return {
    left,
    right,
    name: (left ?? right)?.call.name || 'Tool',
    sameArguments: both && argumentsIn(left) === argumentsIn(right),
    sameResult: both && resultIn(left) === resultIn(right),
  };
}

const callsIn = (trace: Trace | null): CallBlock[] =>
  (trace ? messagesOf(trace) : []).flatMap(({ role, blocks }) =>
    role === 'agent' ? blocks.filter((block) => block.kind === 'call') : [],
  );

/** The arguments of a call as JSON text; as they are if they are incomplete. */
export function argumentsIn({ call }: CallBlock): string {
  try {
    return JSON.stringify(JSON.parse(call.args), null, 2);
  } catch {
    return call.args;
  }
}

/** The result of a call as text; '' if there is none yet. */
export function resultIn({ result }: CallBlock): string {
  if (result === undefined) return '';
  return typeof result === 'string' ? result : JSON.stringify(result, null, 2);
}
