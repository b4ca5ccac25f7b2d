// The choice of a branch: a session of the family, as it is now or before one of its rewinds.

import { useId } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { type Branch, type BranchLine, type Part, partsOf } from '../../store/compare/branch';
import type { Comparison } from '../../store/compare/comparison';
import { addressOf } from '../history/address';
import { exact } from '../kit/time';

interface Props {
  side: 'left' | 'right';
  line: BranchLine;
  comparison: Comparison;
  choose: (branch: Branch) => void;
}

export function Choice({ side, line, comparison, choose }: Props) {
  const id = useId();
  const { branch } = line;
  const sessions = comparison.family.value ?? [];
  const listed = sessions.some((one) => one.id === branch.session)
    ? sessions
    : [{ id: branch.session, name: '' }, ...sessions];
  const parts = partsOf(line.pages);
  const known = branch.before === '' || parts.some(({ before }) => before === branch.before);
  return (
    <div class="compare-choice" data-column={side}>
      <label for={id}>{side === 'left' ? 'Left branch' : 'Right branch'}</label>
      <select
        id={id}
        class="field"
        value={keyOf(branch)}
        onChange={({ currentTarget }) => choose(branchOf(currentTarget.value))}
      >
        {listed.map((session) => (
          <optgroup key={session.id} label={session.name || 'Untitled'}>
            <option value={keyOf({ session: session.id, before: '' })}>
              {session.name || 'Untitled'}
            </option>
            {session.id === branch.session && (
              <>
                {!known && <option value={keyOf(branch)}>Before a rewind</option>}
                {parts.map((part) => (
                  <option
                    key={part.before}
                    value={keyOf({ session: session.id, before: part.before })}
                  >
                    {labelOf(part)}
                  </option>
                ))}
              </>
            )}
          </optgroup>
        ))}
      </select>
      <Link
        href={addressOf(branch.session, {
          history: branch.before !== '',
          at: line.turns.value.at(-1)?.invocation ?? '',
        })}
      >
        Open in the chat
      </Link>
    </div>
  );
}

const labelOf = ({ discard, time }: Part): string =>
  `${discard ? 'Before it was asked again' : 'Before the rewind'}, ${exact(time)}`;

const keyOf = ({ session, before }: Branch): string => JSON.stringify([session, before]);

function branchOf(value: string): Branch {
  const [session, before] = JSON.parse(value) as [string, string];
  return { session, before };
}
