// The page layout: sessions on the left (a drawer on narrow screens), the content beside them.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ConnectionBanner } from './connection';
import { useView } from './context';
import { useNarrow } from './kit/hooks';
import { Sidebar } from './sidebar/sidebar';

export function Layout({ children }: { children: ComponentChildren }) {
  const narrow = useNarrow();
  return (
    <div class="layout">
      {narrow ? (
        <Drawer />
      ) : (
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
      aria-label="Sessions"
      onClose={() => {
        drawer.value = false;
      }}
      closedby="any"
    >
      {open && <Sidebar />}
    </dialog>
  );
}
