// Why an answer failed, with a button to try again.

import { RotateCcw, TriangleAlert } from 'lucide-preact';
import type { Chat } from '../../store/chat';
import { inputOf, type Turn } from '../../store/turns';

export function Failure({ chat, turn }: { chat: Chat; turn: Turn }) {
  const newest = chat.newest.value === turn.invocation;
  return (
    <div class="failure" data-testid="failure">
      <TriangleAlert size={18} aria-hidden="true" />
      <div>
        <p dir="auto">{turn.error?.message ?? 'The agent failed and gave no reason.'}</p>
        {turn.error?.code && <code>{turn.error.code}</code>}
      </div>
      {newest && chat.rights.value.write && (turn.cut || inputOf(turn).length > 0) && (
        <button
          type="button"
          class="button small"
          disabled={chat.sending.value}
          onClick={() => void chat.revision.regenerate(turn)}
        >
          <RotateCcw size={15} aria-hidden="true" />
          Try again
        </button>
      )}
    </div>
  );
}
