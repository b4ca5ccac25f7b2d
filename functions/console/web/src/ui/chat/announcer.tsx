// Announces to screen readers that an answer begins, and its text once it is complete, since reading
// out every token would not help.

import { computed } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { textOf } from '../../store/message';
import type { Turn } from '../../store/turns';

const LONGEST = 600; // characters; the rest can be read in the page

export function Announcer({ chat }: { chat: Chat }) {
  const before = useRef('');
  const [text, setText] = useState('');
  const state = useMemo(() => computed(() => stateOf(chat.turns.value.at(-1))), [chat]);
  const now = state.value;
  // Only changes are announced
  useEffect(() => {
    const last = chat.turns.peek().at(-1);
    const was = before.current;
    before.current = now;
    if (!last || (!was && last.outcome !== 'running')) return; // already complete when the chat was opened
    if (last.outcome === 'running') setText('The agent is answering.');
    else if (was === `${last.invocation} running`) setText(outcomeOf(last));
  }, [now]);
  return (
    <div class="hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}

const stateOf = (last: Turn | undefined): string =>
  last ? `${last.invocation} ${last.outcome}` : '';

function outcomeOf({ outcome, error, messages }: Turn): string {
  if (outcome === 'failed') return `The agent failed: ${error?.message ?? 'no reason given'}`;
  if (outcome === 'stopped') return 'The answer was stopped.';
  const said = messages
    .filter(({ role }) => role === 'agent')
    .map(textOf)
    .join(' ');
  return said.length > LONGEST ? `${said.slice(0, LONGEST)} …` : said;
}
