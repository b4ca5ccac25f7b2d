// Shows toasts above everything, including dialogs: over the list of sessions, or on a narrow screen
// above the page, which makes room for them. They never cover the chat.

import { X } from 'lucide-preact';
import type { RefObject } from 'preact';
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
  useRoom(place);
  return (
    <div ref={place} class="toasts" popover="manual" role="status" aria-live="polite">
      {list.map(({ id, kind, text, action }) => (
        <div key={id} class={`toast ${kind}`} data-testid="toast">
          <p dir="auto">{text}</p>
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

// Tells the styles how much room the toasts need.
function useRoom(place: RefObject<HTMLElement>): void {
  useEffect(() => {
    const popover = place.current;
    if (!popover) return;
    const observer = new ResizeObserver(() => {
      const { offsetHeight, offsetTop } = popover;
      const room = offsetHeight > 0 ? offsetHeight + offsetTop : 0;
      document.documentElement.style.setProperty('--toasts', `${room}px`);
    });
    observer.observe(popover);
    return () => observer.disconnect();
  }, [place]);
}
