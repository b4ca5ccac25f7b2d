// Feedback on an answer: thumbs, and an optional comment.

import { ThumbsDown, ThumbsUp } from 'lucide-preact';
import { useState } from 'preact/hooks';
import type { FeedbackType } from '../../api/tasks';
import { usePlace } from '../history/place';
import { IconButton } from '../kit/icon-button';
import type { MessageProps } from '../message/message';
import { FeedbackNote } from './note';

const THUMBS = [
  { type: 'up', icon: ThumbsUp, label: 'Good answer' },
  { type: 'down', icon: ThumbsDown, label: 'Bad answer' },
] as const;

export function Feedback(props: MessageProps) {
  const { chat, turn } = props;
  const rewound = usePlace(props)?.hidden;
  const [writing, setWriting] = useState(false);
  const given = chat.feedback.given.value.get(turn.invocation);
  const busy = chat.feedback.giving.value === turn.invocation;
  if (rewound || !chat.rights.value.write || !turn.messages.some(({ role }) => role === 'agent'))
    return null;

  const press = async (type: FeedbackType) => {
    const same = given?.type === type;
    if (same || (await chat.feedback.give(turn, type))) setWriting(same ? !writing : true);
  };
  return (
    <>
      {THUMBS.map(({ type, icon, label }) => (
        <IconButton
          key={type}
          icon={icon}
          label={label}
          size={16}
          class="thumb"
          aria-pressed={given?.type === type}
          disabled={busy}
          onClick={() => void press(type)}
        />
      ))}
      {given && writing && (
        <FeedbackNote
          key={given.type} // a new note for the other thumb gets the focus again
          given={given}
          busy={busy}
          send={(text) => chat.feedback.give(turn, given.type, text)}
          close={() => setWriting(false)}
        />
      )}
      {given?.text && !writing && (
        <button type="button" class="feedback-text" onClick={() => setWriting(true)}>
          “{given.text}”
        </button>
      )}
    </>
  );
}
