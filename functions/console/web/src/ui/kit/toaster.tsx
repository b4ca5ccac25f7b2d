// Shows toasts above everything, including dialogs.

import { X } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { useApp } from '../context';
import { IconButton } from './icon-button';

export function Toaster() {
  const { toasts } = useApp();
  const list = toasts.list.value;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const popover = place.current;
    if (!popover || list.length === 0) return;
    if (popover.matches(':popover-open')) popover.hidePopover(); // reopened to be above a new dialog
    popover.showPopover();
  }, [list]);
  return (
    <div ref={place} class="toasts" popover="manual" role="status" aria-live="polite">
      {list.map(({ id, kind, text, action }) => (
        <div key={id} class={`toast ${kind}`} data-testid="toast">
          <p>{text}</p>
          {action && (
            <button
              type="button"
              class="button small"
              onClick={() => {
                toasts.dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <IconButton icon={X} label="Dismiss" size={16} onClick={() => toasts.dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
