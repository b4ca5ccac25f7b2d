// The sidebar: search, new chat, the list of sessions, the user.

import { Search, SquarePen, X } from 'lucide-preact';
import { useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useApp, useView } from '../context';
import { Mark } from '../kit/brand';
import { IconButton } from '../kit/icon-button';
import { SessionList } from './list';
import { UserMenu } from './user';

export function Sidebar() {
  const { drawer } = useView();
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
        {drawer.value && (
          <IconButton
            icon={X}
            label="Close"
            onClick={() => {
              drawer.value = false;
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
      <SearchField />
      <SessionList />
      <UserMenu />
    </>
  );
}

function SearchField() {
  const { sessions } = useApp();
  const timer = useRef<ReturnType<typeof setTimeout>>();
  return (
    <label class="search">
      <Search size={16} aria-hidden="true" />
      <span class="hidden">Search sessions</span>
      <input
        type="search"
        placeholder="Search"
        autocomplete="off"
        maxLength={256}
        defaultValue={sessions.value?.query.peek() ?? ''}
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => void sessions.value?.search(value.trim()), 150);
        }}
      />
    </label>
  );
}
