// The sidebar: search, new chat, the list of sessions, the user.

import { Command, PanelLeftClose, Search, SquarePen, X } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useView } from '../context';
import { Mark } from '../kit/brand';
import { IconButton } from '../kit/icon-button';
import { openPalette, Palette } from '../palette/open';
import { SEARCH_FIELD } from './focus';
import { ListKinds } from './kinds';
import { SessionList, useSessions } from './list';
import { UserMenu } from './user';

export function Sidebar() {
  const { drawer, folded, list } = useView();
  return (
    <>
      <header class="sidebar-head">
        <Link
          href="/"
          class="brand"
          onClick={() => {
            drawer.value = false;
          }}
        >
          <Mark />
          Rethread
        </Link>
        {drawer.value ? (
          <IconButton
            icon={X}
            label="Close"
            onClick={() => {
              drawer.value = false;
            }}
          />
        ) : (
          <IconButton
            icon={PanelLeftClose}
            label="Hide the list of chats"
            aria-expanded
            data-sidebar
            onClick={() => {
              folded.value = true;
            }}
          />
        )}
      </header>
      <Link
        href="/"
        class="button new-chat"
        onClick={() => {
          drawer.value = false;
        }}
      >
        <SquarePen size={17} aria-hidden="true" />
        New chat
      </Link>
      <div class="search-row">
        <SearchField />
        <PaletteButton />
      </div>
      <ListKinds />
      <SessionList key={list.value} kind={list.value} />
      <UserMenu />
    </>
  );
}

function PaletteButton() {
  const view = useView();
  return (
    <IconButton
      icon={Command}
      label="Find a chat or an action"
      size={16}
      onPointerEnter={Palette.preload}
      onClick={() => {
        view.drawer.value = false;
        openPalette(view);
      }}
    />
  );
}

function SearchField() {
  const sessions = useSessions(useView().list.value);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const field = useRef<HTMLInputElement>(null);
  // The other list is searched for the same text.
  useEffect(() => {
    void sessions?.search(field.current?.value.trim() ?? '');
    return () => clearTimeout(timer.current);
  }, [sessions]);
  return (
    <label class="search">
      <Search size={16} aria-hidden="true" />
      <span class="hidden">Search chats</span>
      <input
        ref={field}
        id={SEARCH_FIELD}
        type="search"
        placeholder="Search"
        autocomplete="off"
        maxLength={256}
        defaultValue={sessions?.query.peek() ?? ''}
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => void sessions?.search(value.trim()), 150);
        }}
      />
    </label>
  );
}
