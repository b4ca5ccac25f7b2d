// A button that opens a menu. Arrow keys move, Enter chooses, Escape closes.

import type { LucideIcon } from 'lucide-preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from './icon-button';
import { place } from './place';

export interface MenuItem {
  id: string;
  label: string;
  icon: LucideIcon;
  run: () => void;
  /** Called when the menu opens, to load what `run` shows. */
  preload?: () => void;
  danger?: boolean;
  /** Whether it is on; absent for what cannot be. */
  pressed?: boolean;
  disabled?: boolean;
}

interface Props {
  label: string;
  icon: LucideIcon;
  items: readonly MenuItem[];
  class?: string;
  /** A line below the items. */
  note?: string;
}

export function Menu({ label, icon, items, class: name, note }: Props) {
  const [open, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLSpanElement>(null);

  useLayoutEffect(() => {
    const menu = list.current;
    const button = anchor.current?.querySelector('button');
    if (!open || !menu || !button) return;
    const follow = () => place(menu, button);
    menu.showPopover();
    for (const { preload } of items) preload?.();
    follow();
    menu.querySelector<HTMLElement>('[role^=menuitem]')?.focus();
    document.addEventListener('scroll', follow, { capture: true, passive: true });
    return () => document.removeEventListener('scroll', follow, { capture: true });
  }, [open]);

  const close = () => {
    list.current?.hidePopover();
    setOpen(false); // at once: the toggle event follows later, possibly after a key has opened the menu again
    anchor.current?.querySelector('button')?.focus();
  };
  return (
    <span ref={anchor} class="menu-anchor">
      <IconButton
        icon={icon}
        label={label}
        class={name ?? ''}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(true)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          setOpen(true);
        }}
      />
      {open && (
        <div
          ref={list}
          popover="auto"
          role="menu"
          tabIndex={-1}
          class="menu"
          aria-label={label}
          onToggle={(event) => {
            if (event.newState === 'closed' && event.currentTarget === list.current) setOpen(false);
          }}
          onKeyDown={(event) => move(event, close)}
        >
          {items.map(({ id, label: text, icon: Icon, run, danger, pressed, disabled }) => (
            <button
              type="button"
              {...roleOf(pressed)}
              tabIndex={-1}
              key={id}
              disabled={disabled}
              class={danger ? 'danger' : ''}
              onClick={() => {
                close();
                run();
              }}
            >
              <Icon size={16} aria-hidden="true" />
              {text}
            </button>
          ))}
          {note && <div class="menu-note">{note}</div>}
        </div>
      )}
    </span>
  );
}

const roleOf = (pressed: boolean | undefined) =>
  pressed === undefined
    ? ({ role: 'menuitem' } as const)
    : ({ role: 'menuitemcheckbox', 'aria-checked': pressed } as const);

function move(event: KeyboardEvent, close: () => void): void {
  const menu = event.currentTarget as HTMLElement;
  const items = [...menu.querySelectorAll<HTMLElement>('[role^=menuitem]:not(:disabled)')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === 'Tab' || event.key === 'Escape') {
    if (event.key === 'Escape') event.preventDefault();
    close();
  } else if (to !== undefined) {
    event.preventDefault();
    items.at(to % items.length)?.focus();
  }
  event.stopPropagation();
}
