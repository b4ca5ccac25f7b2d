// The complete log. Older entries are loaded when the user scrolls up.

import { useEffect, useRef } from 'preact/hooks';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import type { Chat } from '../../store/chat';
import type { History } from '../../store/history';
import type { HistoryRow } from '../../store/history-rows';
import { ABOVE, above } from '../chat/above';
import { useHome } from '../chat/home';
import { usePrepended } from '../chat/prepended';
import { useStick } from '../chat/stick';
import { MessageView } from '../message/message';
import { useAddress } from './address';
import { MarkerView } from './marker';
import { useReveal } from './reveal';

const BUFFER = 600; // pixels beyond the edges that are rendered too
const NEAR = 400; // pixels from the top at which older rows are loaded
const OLDER = 48; // pixels above the rows, for the button that loads older ones

interface Props {
  chat: Chat;
  history: History;
}

export function HistoryThread({ chat, history }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const rows = history.rows.value;
  const prepended = usePrepended(rows);
  const load = () => {
    if (!history.loading.peek() && !history.failed.peek()) void history.loadOlder();
  };
  const onScroll = (offset: number) => {
    if (offset < NEAR) load();
  };
  const { release } = useStick(scroller, content, false);
  // A list that stands at its top already does not scroll when a page has been loaded
  useHome(scroller, {
    release,
    more: () => history.more.peek() && !history.failed.peek(),
    load,
  });
  const { at } = useAddress();
  useEffect(() => {
    if (at) void history.find(at);
  }, [history, at]);
  useReveal(chat.id, { list, scroller, release }, (invocation) => {
    const index = rows.findIndex((row) => row.invocation === invocation);
    return index < 0 && history.ready.value && !history.more.value ? null : index;
  });
  return (
    <div class="thread-frame">
      <div
        class="thread"
        ref={scroller}
        data-testid="history"
        aria-busy={!history.ready.value}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Conversation with rewound messages"
      >
        <div class="thread-content" style={above} ref={content}>
          <Older history={history} />
          {history.ready.value && (
            <Virtualizer
              ref={list}
              scrollRef={scroller}
              bufferSize={BUFFER}
              data={rows}
              shift={prepended}
              onScroll={onScroll}
              startMargin={ABOVE + (history.more.value ? OLDER : 0)}
            >
              {(row) => <RowView key={row.key} chat={chat} history={history} row={row} />}
            </Virtualizer>
          )}
        </div>
      </div>
    </div>
  );
}

function RowView({ chat, history, row }: Props & { row: HistoryRow }) {
  if (row.kind === 'marker') {
    return <MarkerView chat={chat} history={history} marker={row.marker} />;
  }
  const { message, turn, last, hidden } = row;
  const view = <MessageView chat={chat} message={message} turn={turn} last={last} />;
  if (!hidden) return view;
  return (
    <div class="rewound" data-testid="rewound">
      <span class="hidden">Rewound:</span>
      {view}
    </div>
  );
}

// Loads older entries when scrolling does not.
function Older({ history }: { history: History }) {
  const failed = history.failed.value;
  if (!(history.ready.value && history.more.value) && !failed) return null;
  return (
    <div class="older" style={{ height: `${OLDER}px` }}>
      {failed && <p role="alert">{failed}</p>}
      <button
        type="button"
        class="button small"
        disabled={history.loading.value}
        onClick={() => void history.loadOlder()}
      >
        {failed ? 'Try again' : 'Older messages'}
      </button>
    </div>
  );
}
