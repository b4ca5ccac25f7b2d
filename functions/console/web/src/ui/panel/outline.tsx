// The tab "Outline": the questions of a chat, to jump to each. Only those that are loaded are listed,
// since the list of a long chat would be read for nothing most of the time.

import type { RefObject } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { textOf } from '../../store/message';
import type { Turn } from '../../store/turns';
import { useView } from '../context';
import { useAddress, useShow } from '../history/address';
import { questionOf } from '../history/place';
import { useCramped } from '../kit/hooks';
import '../../styles/outline.css';

export function OutlinePanel({ chat }: { chat: Chat }) {
  const { older } = chat;
  const turns = chat.turns.value.filter(({ invocation }) => invocation !== 'pending');
  const list = useRef<HTMLOListElement>(null);
  const current = useCurrent(turns);
  useFollow(list, current);
  return (
    <nav class="outline" aria-label="Questions of this chat">
      {older.more.value && (
        <button
          type="button"
          class="button small"
          disabled={older.loading.value}
          aria-busy={older.loading.value}
          onClick={() => void older.load()}
        >
          Earlier questions
        </button>
      )}
      {older.failed.value && <p role="alert">{older.failed.value}</p>}
      {turns.length === 0 && <p class="hint">No questions yet.</p>}
      <ol ref={list}>
        {turns.map((turn) => (
          <Entry
            key={turn.invocation}
            chat={chat}
            turn={turn}
            current={turn.invocation === current}
          />
        ))}
      </ol>
    </nav>
  );
}

const LONGEST = 300; // characters

const Entry = memo(({ chat, turn, current }: { chat: Chat; turn: Turn; current: boolean }) => {
  const { panel } = useView();
  const { history } = useAddress();
  const show = useShow();
  const cramped = useCramped();
  const go = () => {
    if (cramped) panel.value = ''; // it covers the chat
    show(chat.id, { history, at: turn.invocation }, true);
  };
  return (
    <li>
      <button type="button" dir="auto" aria-current={current ? 'location' : undefined} onClick={go}>
        <span>{titleOf(turn)}</span>
      </button>
    </li>
  );
});

// A turn without a question, such as one that an automation began, is named by its answer.
function titleOf(turn: Turn): string {
  const text = questionOf(turn) || turn.messages.map(textOf).join(' ');
  const line = text.slice(0, LONGEST).replace(/\s+/g, ' ').trim();
  return line || (turn.messages.some(({ role }) => role === 'user') ? 'Files' : 'Without text');
}

/** The turn at the top of the chat; '' if none is shown. */
function useCurrent(turns: readonly Turn[]): string {
  const [current, setCurrent] = useState('');
  useEffect(() => {
    const scroller = document.querySelector('.thread');
    if (!scroller) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      setCurrent(turnAt(scroller));
    };
    const later = () => {
      frame ||= requestAnimationFrame(look);
    };
    later();
    scroller.addEventListener('scroll', later, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      scroller.removeEventListener('scroll', later);
    };
  }, [turns.length]);
  return current;
}

// The message in the middle; at an end of the chat the one there, which cannot be in the middle.
function turnAt(scroller: Element): string {
  const messages = [...scroller.querySelectorAll<HTMLElement>('[data-invocation]')].filter(
    (element) => element.checkVisibility({ visibilityProperty: true }),
  );
  const { top, height } = scroller.getBoundingClientRect();
  const atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 2;
  const above = messages.filter((m) => m.getBoundingClientRect().top <= top + height / 2);
  const last = atEnd ? messages.at(-1) : above.at(-1);
  const shown = scroller.scrollTop < 2 && !atEnd ? messages[0] : last;
  return (shown ?? messages[0])?.dataset.invocation ?? '';
}

function useFollow(list: RefObject<HTMLElement>, current: string): void {
  useEffect(() => {
    const entry = list.current?.querySelector('[aria-current]');
    entry?.scrollIntoView({ block: 'nearest' });
  }, [list, current]);
}
