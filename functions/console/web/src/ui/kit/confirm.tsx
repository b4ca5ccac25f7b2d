// Asks before something that cannot be undone. A typed confirmation is for what loses much.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog';

interface Props {
  title: string;
  /** The label of the button. */
  action: string;
  run: () => Promise<void>;
  children: ComponentChildren;
  /** Words that must be typed before. */
  typed?: string;
}

export function Confirm({ title, action, run, children, typed }: Props) {
  const [text, setText] = useState('');
  const ready = typed === undefined || text.trim() === typed;
  return (
    <Dialog title={title} submit={{ label: action, danger: true, disabled: !ready, run }}>
      {children}
      {typed !== undefined && (
        <label class="labelled">
          <span>
            Type <b>{typed}</b> to confirm
          </span>
          <input
            class="field"
            value={text}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      )}
    </Dialog>
  );
}
