// The page layout: sessions on the left (a drawer on narrow screens) unless they are hidden, the content
// beside them.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ConnectionBanner } from './connection';
import { useView } from './context';
import { useNarrow } from './kit/hooks';
import { Sidebar } from './sidebar/sidebar';

export function Layout({ children }: { children: ComponentChildren }) {
  const narrow = useNarrow();
  const { folded } = useView();
  const layout = useRef<HTMLDivElement>(null);
  const hidden = folded.value;
  const before = useRef(hidden);
  useEffect(() => {
    // The button that had the focus has gone: its counterpart gets it
    const lost = document.activeElement === document.body;
    if (before.current !== hidden && lost) {
      layout.current?.querySelector<HTMLElement>('[data-sidebar]')?.focus();
    }
    before.current = hidden;
  }, [hidden]);
  return (
    <div ref={layout} class="layout">
      {narrow && <Drawer />}
      {!narrow && !hidden && (
        <aside class="sidebar">
          <Sidebar />
        </aside>
      )}
      <div class="main">
        <ConnectionBanner />
        {children}
      </div>
    </div>
  );
}

function Drawer() {
  const { drawer } = useView();
  const dialog = useRef<HTMLDialogElement>(null);
  const open = drawer.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      class="drawer sidebar"
      aria-label="Chats"
      onClose={() => {
        drawer.value = false;
      }}
      closedby="any"
    >
      {open && <Sidebar />}
    </dialog>
  );
}
