// The side panel: a column beside the chat, or the whole of a narrow screen.

import { X } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { useView } from '../context';
import { useCramped } from '../kit/hooks';
import { IconButton } from '../kit/icon-button';
import { panelTabs } from './tabs';

export function Panel({ chat }: { chat: Chat }) {
  const { panel } = useView();
  const cramped = useCramped();
  const close = () => {
    panel.value = '';
  };
  if (!cramped)
    return (
      <aside class="panel" aria-label="Side panel">
        <Content chat={chat} close={close} />
      </aside>
    );
  return (
    <Sheet close={close}>
      <Content chat={chat} close={close} />
    </Sheet>
  );
}

function Sheet({ close, children }: { close: () => void; children: preact.ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="panel sheet" aria-label="Side panel" onClose={close}>
      {children}
    </dialog>
  );
}

function Content({ chat, close }: { chat: Chat; close: () => void }) {
  const { panel } = useView();
  const tab = panelTabs.find(({ id }) => id === panel.value) ?? panelTabs[0];
  const list = useRef<HTMLDivElement>(null);
  if (!tab) return null;
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const to = panelTabs.at((panelTabs.indexOf(tab) + step) % panelTabs.length);
    if (!to) return;
    panel.value = to.id;
    list.current?.querySelector<HTMLElement>(`#tab-${to.id}`)?.focus();
  };
  return (
    <>
      <header class="bar">
        <div role="tablist" aria-label="Side panel" class="tabs" ref={list} onKeyDown={move}>
          {panelTabs.map(({ id, label, icon: Icon }) => (
            <button
              type="button"
              role="tab"
              key={id}
              title={label}
              id={`tab-${id}`}
              aria-selected={id === tab.id}
              aria-controls="panel-view"
              tabIndex={id === tab.id ? 0 : -1}
              onClick={() => {
                panel.value = id;
              }}
            >
              <Icon size={16} aria-hidden="true" />
              <span>{label}</span>
            </button>
          ))}
        </div>
        <IconButton icon={X} label="Close the side panel" onClick={close} />
      </header>
      <div class="panel-view" id="panel-view" role="tabpanel" aria-labelledby={`tab-${tab.id}`}>
        <tab.view chat={chat} key={`${chat.id} ${tab.id}`} />
      </div>
    </>
  );
}
