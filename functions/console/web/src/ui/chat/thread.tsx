// The messages of a chat. A growing answer renders its row alone. Only visible rows are in the document, and only messages that were
// scrolled to are loaded, so that the length of the conversation does not matter.

import { computed } from '@preact/signals';
import { ArrowDown } from 'lucide-preact';
import { memo } from 'preact/compat';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import type { Chat } from '../../store/chat';
import type { Row } from '../../store/turns';
import { useAddress } from '../history/address';
import { useReveal } from '../history/reveal';
import { IconButton } from '../kit/icon-button';
import { Skeleton } from '../kit/skeleton';
import { MessageView } from '../message/message';
import { ABOVE, above } from './above';
import { Failure } from './failure';
import { useHome } from './home';
import { useNewestFirst } from './newest';
import { OlderLine, useOlder } from './older';
import { usePrepended } from './prepended';
import { useStick } from './stick';
import { Waiting } from './waiting';

const BUFFER = 600; // pixels beyond the edges that are rendered too

// A thread of at most this many rows is rendered completely, so that the browser's own search and
// screen readers find all of it.
const MOST_WHOLE = 100;
const NONE: number[] = [];

export function Thread({ chat, rows: all }: { chat: Chat; rows: readonly Row[] }) {
  const { at } = useAddress();
  const rows = useNewestFirst(all, !at && !chat.revision.editing.value);
  const partly = rows.length < all.length;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const short = partly || (rows.length <= MOST_WHOLE && !chat.older.more.value);
  const whole = short ? rows.map((_, i) => i) : NONE;
  const { stuck, stick, release } = useStick(scroller, content, chat.sending.value);
  useReveal(chat.id, { list, scroller, release }, (invocation) => {
    const index = rows.findIndex((row) => row.turn.invocation === invocation);
    const missing = index < 0 && !partly && chat.loaded.value && !chat.older.more.value;
    return missing ? null : index;
  });
  const { loaded } = chat;
  useEffect(() => {
    if (at && loaded.value) void chat.find(at);
  }, [chat, at, loaded.value]);
  useEdited(chat, rows, (index) => {
    release();
    list.current?.scrollToIndex(index, { align: 'center' });
  });
  // The question whose variant is chosen stays in view, not the end
  const switching = chat.variants.value?.focus.value;
  useEffect(() => {
    if (switching) release();
  }, [switching, release]);
  const prepended = usePrepended(rows);
  const { more, failed } = chat.older;
  useHome(scroller, { release, more: () => partly || (more.peek() && !failed.peek()) });
  const sentinel = useOlder(chat, scroller, { stuck, partly });
  return (
    <div class="thread-frame">
      <div
        class="thread"
        ref={scroller}
        data-testid="thread"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Conversation"
      >
        <div class="thread-content" style={above} ref={content}>
          <div class="older-edge" ref={sentinel} />
          <OlderLine older={chat.older} />
          {!loaded.value && rows.length === 0 && <Skeleton class="older-line" rows={6} />}
          <Virtualizer
            ref={list}
            scrollRef={scroller}
            startMargin={ABOVE}
            bufferSize={BUFFER}
            keepMounted={whole}
            data={rows}
            shift={prepended}
          >
            {(row) => <RowView key={row.key} chat={chat} row={row} />}
          </Virtualizer>
        </div>
      </div>
      {!stuck && (
        <IconButton icon={ArrowDown} label="Jump to latest" class="to-end" onClick={stick} />
      )}
    </div>
  );
}

// Scrolls to a question that is to be edited, whose row may not be rendered.
function useEdited(chat: Chat, rows: readonly Row[], scroll: (index: number) => void): void {
  const id = chat.revision.editing.value;
  const index = id ? rows.findIndex((row) => row.kind === 'message' && row.message.id === id) : -1;
  const shown = index >= 0;
  useEffect(() => {
    if (shown) scroll(index);
  }, [id, shown]);
}

const RowView = memo(({ chat, row: known }: { chat: Chat; row: Row }) => {
  const now = useMemo(() => computed(() => chat.row(known.key)), [chat, known.key]);
  const row = now.value ?? known;
  switch (row.kind) {
    case 'message':
      return <MessageView chat={chat} message={row.message} turn={row.turn} last={row.last} />;
    case 'waiting':
      return <Waiting />;
    case 'failure':
      return <Failure chat={chat} turn={row.turn} />;
  }
});
