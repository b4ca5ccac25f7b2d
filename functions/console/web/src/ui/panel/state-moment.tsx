// Selects the moment whose state is shown: a slider over all changes.

import { ChevronLeft, ChevronRight } from 'lucide-preact';
import type { Event } from '../../api/types';
import { keysOf } from '../../store/state';
import { IconButton } from '../kit/icon-button';
import { exact } from '../kit/time';

interface Props {
  moments: readonly Event[];
  /** The event after which the state is shown; none for the current state. */
  picked: Event | undefined;
  /** Selects an event; '' selects the current state. */
  pick: (id: string) => void;
}

export function StateMoment({ moments, picked, pick }: Props) {
  if (moments.length === 0 && !picked) return null;
  const end = moments.length; // the position of the current state
  const at = picked ? moments.filter(({ seq }) => seq <= picked.seq).length - 1 : end;
  const go = (to: number) => pick(to >= end ? '' : (moments[Math.max(0, to)]?.id ?? ''));
  const text = picked ? describe(picked) : 'Now';
  return (
    <div class="state-moment">
      <div class="state-slider">
        <IconButton
          icon={ChevronLeft}
          label="Previous change"
          disabled={at <= 0}
          onClick={() => go(at - 1)}
        />
        <input
          type="range"
          min={0}
          max={end}
          value={Math.max(0, at)}
          aria-label="State as of"
          aria-valuetext={text}
          onInput={({ currentTarget }) => go(currentTarget.valueAsNumber)}
        />
        <IconButton
          icon={ChevronRight}
          label="Next change"
          disabled={!picked}
          onClick={() => go(at + 1)}
        />
      </div>
      <p>
        <span data-testid="state-moment">{text}</span>
        {picked && (
          <button type="button" class="button small" onClick={() => pick('')}>
            Show current state
          </button>
        )}
      </p>
    </div>
  );
}

function describe(event: Event): string {
  const keys = keysOf(event);
  const by = event.author === 'system' ? 'the start' : event.author;
  const what = keys.length > 0 ? `changed ${keys.join(', ')}` : 'changed nothing';
  return `${exact(event.created_time)}: ${by} ${what}`;
}
