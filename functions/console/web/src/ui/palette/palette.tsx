// The palette: chats and actions, found by any of their words. Arrow keys choose, Enter runs.

import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import { Search } from 'lucide-preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ListedSession } from '../../api/types';
import type { Chat } from '../../store/chat';
import { useApp } from '../context';
import { Keys } from '../keys/names';
import { pressed } from '../keys/registry';
import { Modal } from '../kit/modal';
import type { PaletteEntry, PaletteGroup } from './entry';
import { matching } from './match';
import { chatSources, sources } from './registry';
import './palette.css';

export function Palette() {
  const { chat } = useApp();
  const element = useRef<HTMLDialogElement>(null);
  const chosen = useRef<PaletteEntry | null>(null);
  // Given beside the list, which stays what it is when the chat's session is loaded meanwhile
  const ofChat = useSignal<readonly PaletteGroup[]>([]);
  const open = chat.value;
  const session = open?.session.value ?? null;
  const choose = (entry: PaletteEntry) => {
    chosen.current = entry;
    element.current?.close();
  };
  return (
    <Modal
      element={element}
      class="dialog palette"
      aria-label="Find a chat or an action"
      closed={() => chosen.current?.run()} // it may open another dialog
      onKeyDown={(event) => {
        if (!pressed(event, 'palette')) return;
        event.preventDefault();
        element.current?.close();
      }}
    >
      {open && session && <OfChat key={open.id} chat={open} session={session} into={ofChat} />}
      <Finding ofChat={ofChat} choose={choose} />
    </Modal>
  );
}

interface OfChatProps {
  chat: Chat;
  session: ListedSession;
  into: Signal<readonly PaletteGroup[]>;
}

function OfChat({ chat, session, into }: OfChatProps) {
  const groups = chatSources.map((source) => source(chat, session));
  useLayoutEffect(() => {
    into.value = groups;
  });
  useLayoutEffect(
    () => () => {
      into.value = [];
    },
    [into],
  );
  return null;
}

interface FindingProps {
  ofChat: ReadonlySignal<readonly PaletteGroup[]>;
  choose: (entry: PaletteEntry) => void;
}

function Finding({ ofChat, choose }: FindingProps) {
  const [query, setQuery] = useState('');
  const [picked, setPicked] = useState(''); // '' for the first
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const [chats, ...others] = sources.map((source) => source(query));
  const groups = matching(
    [chats, ...ofChat.value, ...others].filter((group) => group !== undefined),
    query,
  );
  const entries = groups.flatMap((group) => group.entries);
  const at = Math.max(
    0,
    entries.findIndex((entry) => entry.id === picked),
  );
  const current = entries[at];
  const optionId = (entry: PaletteEntry | undefined) => entry && `${id}-${entries.indexOf(entry)}`;
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current?.id]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && entries.length > 0) {
      event.preventDefault();
      setPicked(entries.at((at + step) % entries.length)?.id ?? '');
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (current) choose(current);
    }
  };
  return (
    <>
      <label class="palette-field">
        <Search size={18} aria-hidden="true" />
        <input
          ref={field}
          type="text"
          dir="auto"
          role="combobox"
          aria-label="Find a chat or an action"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={optionId(current)}
          aria-autocomplete="list"
          placeholder="Find a chat or an action"
          autocomplete="off"
          spellcheck={false}
          maxLength={256}
          value={query}
          onInput={({ currentTarget }) => {
            setQuery(currentTarget.value);
            setPicked('');
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <div ref={list} id={`${id}-list`} class="palette-list" role="listbox" aria-label="Found">
        {groups.map(({ title, entries: some, notice }, i) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options is not a fieldset
          <div key={title} role="group" aria-labelledby={`${id}-group-${i}`}>
            <p class="palette-title" id={`${id}-group-${i}`}>
              {title}
            </p>
            {notice && <p class="hint">{notice}</p>}
            {some.map((entry) => (
              <Option
                key={entry.id}
                entry={entry}
                id={optionId(entry) ?? ''}
                selected={entry === current}
                pick={() => setPicked(entry.id)}
                choose={() => choose(entry)}
              />
            ))}
          </div>
        ))}
      </div>
    </>
  );
}

interface OptionProps {
  entry: PaletteEntry;
  id: string;
  selected: boolean;
  pick: () => void;
  choose: () => void;
}

function Option({ entry, id, selected, pick, choose }: OptionProps) {
  const { label, note, icon: Icon, keys } = entry;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and the keys
    <div
      id={id}
      class="palette-entry"
      role="option"
      tabIndex={-1}
      aria-selected={selected}
      onPointerMove={pick}
      onPointerDown={(event) => event.preventDefault()} // the focus stays in the field
      onClick={choose}
    >
      <Icon size={16} aria-hidden="true" />
      <span dir="auto" title={label}>
        {label}
      </span>
      {note && (
        <small class="palette-note" dir="auto" title={note}>
          {note}
        </small>
      )}
      {keys && <Keys of={keys} />}
    </div>
  );
}
