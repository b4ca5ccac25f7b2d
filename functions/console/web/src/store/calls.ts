// Consecutive tool calls of an answer, which are shown as one group.

import type { Block, CallBlock, Message } from './message';

export interface CallGroup {
  kind: 'calls';
  calls: readonly CallBlock[];
}

/** Blocks, with each sequence of calls as a group. */
export function grouped(blocks: readonly Block[]): (Exclude<Block, CallBlock> | CallGroup)[] {
  const out: (Exclude<Block, CallBlock> | { kind: 'calls'; calls: CallBlock[] })[] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (block.kind !== 'call') out.push(block);
    else if (last?.kind === 'calls') last.calls.push(block);
    else out.push({ kind: 'calls', calls: [block] });
  }
  return out;
}

const joined = new WeakMap<Message, { of: readonly Message[]; message: Message }>();

/** Messages with those joined that consist of calls alone, one after the other. */
export function joinCalls(messages: readonly Message[]): Message[] {
  const groups: Message[][] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (last?.[0] && joins(last[0], message)) last.push(message);
    else groups.push([message]);
  }
  return groups.flatMap((group) => (group.length > 1 ? join(group) : group));
}

const joins = (first: Message, next: Message) =>
  onlyCalls(first) && onlyCalls(next) && first.author === next.author;

function onlyCalls({ role, blocks, event, error, stopped, interrupted }: Message): boolean {
  if (role === 'user' || error || stopped || interrupted) return false;
  const { state_delta, artifact_delta } = event.actions ?? {};
  if (Object.keys({ ...state_delta, ...artifact_delta }).length > 0) return false;
  return blocks.length > 0 && blocks.every(({ kind }) => kind === 'call');
}

// The same object as before if its messages are, so that it is not rendered again.
function join(group: readonly Message[]): Message[] {
  const [first, last] = [group[0], group.at(-1)];
  if (!first || !last) return [];
  const known = joined.get(first);
  if (known?.of.length === group.length && known.of.every((m, i) => m === group[i])) {
    return [known.message];
  }
  const message = { ...last, id: first.id, blocks: group.flatMap(({ blocks }) => blocks) };
  joined.set(first, { of: group, message });
  return [message];
}
