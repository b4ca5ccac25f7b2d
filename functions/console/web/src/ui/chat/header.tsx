// The header of a chat: the session's name and actions.

import { Ellipsis, Menu as Lines, PanelLeftOpen, PanelRight } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import type { ListedSession } from '../../api/types';
import type { Chat } from '../../store/chat';
import { useView } from '../context';
import { Origin } from '../fork/origin';
import { HistoryToggle } from '../history/toggle';
import { useNarrow } from '../kit/hooks';
import { IconButton } from '../kit/icon-button';
import { Menu } from '../kit/menu';
import { panelTabs } from '../panel/tabs';
import { Rename, useSessionMenu } from '../session-menu';
import { Owner } from '../share/owner';

export function Header({ chat }: { chat: Chat }) {
  const session = chat.session.value;
  return (
    <Bar>
      {session ? <Named chat={chat} session={session} /> : <h1 class="hidden">Loading the chat</h1>}
    </Bar>
  );
}

/** The bar, with the button for the list of sessions where that is not shown. */
export function Bar({ children }: { children?: ComponentChildren }) {
  const { drawer, folded } = useView();
  const narrow = useNarrow();
  return (
    <header class="bar">
      {!narrow && folded.value && (
        <IconButton
          icon={PanelLeftOpen}
          label="Show the list of chats"
          aria-expanded={false}
          data-sidebar
          onClick={() => {
            folded.value = false;
          }}
        />
      )}
      {narrow && (
        <IconButton
          icon={Lines}
          label="Chats"
          onClick={() => {
            drawer.value = true;
          }}
        />
      )}
      {children}
    </header>
  );
}

function Named({ chat, session }: { chat: Chat; session: ListedSession }) {
  const { dialog, panel } = useView();
  const items = useSessionMenu(session);
  const first = panelTabs[0];
  return (
    <>
      <h1>
        {chat.rights.value.own ? (
          <button
            type="button"
            class="title"
            dir="auto"
            title="Rename"
            onPointerEnter={Rename.preload}
            onFocus={Rename.preload}
            onClick={() => {
              dialog.value = <Rename session={session} />;
            }}
          >
            {session.name || 'Untitled'}
          </button>
        ) : (
          <span class="title" dir="auto" title={session.name}>
            {session.name || 'Untitled'}
          </span>
        )}
      </h1>
      <Origin session={session} />
      <Owner session={session} />
      <HistoryToggle chat={chat} />
      {items.length > 0 && <Menu label="Chat options" icon={Ellipsis} items={items} />}
      {first && (
        <IconButton
          icon={PanelRight}
          label="Side panel"
          aria-expanded={panel.value !== ''}
          onClick={() => {
            panel.value = panel.value ? '' : first.id;
          }}
        />
      )}
    </>
  );
}
