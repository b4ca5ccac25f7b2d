// Feedback on an answer: thumbs, and an optional comment.

import { ThumbsDown, ThumbsUp } from 'lucide-preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { FeedbackType } from '../../api/tasks';
import type { Given } from '../../store/tasks';
import { usePlace } from '../history/place';
import type { MenuItem } from '../kit/menu';
import type { MessageProps } from '../message/props';
import { FeedbackNote } from './note';

const THUMBS = [
  { type: 'up', icon: ThumbsUp, label: 'Good answer' },
  { type: 'down', icon: ThumbsDown, label: 'Bad answer' },
] as const;

/** The thumbs, and the comment below them; none unless the turn has ended. */
export function useFeedback(
  props: MessageProps,
  ended: boolean,
): { items: MenuItem[]; note: VNode | null } {
  const { chat, turn } = props;
  const rewound = usePlace(props)?.hidden;
  const [writing, setWriting] = useState(false);
  const given = chat.feedback.given.value.get(turn.invocation);
  const busy = chat.feedback.giving.value === turn.invocation;
  const answered = turn.messages.some(({ role }) => role === 'agent');
  if (!ended || rewound || !chat.rights.value.write || !answered) return { items: [], note: null };

  const press = async (type: FeedbackType) => {
    const same = given?.type === type;
    if (same || (await chat.feedback.give(turn, type))) setWriting(same ? !writing : true);
  };
  const items = THUMBS.map(({ type, icon, label }) => ({
    id: type,
    label,
    icon,
    pressed: given?.type === type,
    disabled: busy,
    run: () => void press(type),
  }));
  const note = given && (
    <Note
      given={given}
      busy={busy}
      writing={writing}
      write={setWriting}
      send={(text) => chat.feedback.give(turn, given.type, text)}
    />
  );
  return { items, note: note ?? null };
}

interface NoteProps {
  given: Given;
  busy: boolean;
  writing: boolean;
  write: (writing: boolean) => void;
  send: (text: string) => Promise<boolean>;
}

function Note({ given, busy, writing, write, send }: NoteProps) {
  if (writing) {
    return (
      <FeedbackNote
        key={given.type} // a new note for the other thumb gets the focus again
        given={given}
        busy={busy}
        send={send}
        close={() => write(false)}
      />
    );
  }
  if (!given.text) return null;
  return (
    <button type="button" class="feedback-text" onClick={() => write(true)}>
      “{given.text}”
    </button>
  );
}
