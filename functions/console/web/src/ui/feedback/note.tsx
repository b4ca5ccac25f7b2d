// The comment for a thumb.

import { useEffect, useRef } from 'preact/hooks';
import type { Given } from '../../store/tasks';

const LONGEST = 10_000; // characters

interface Props {
  given: Given;
  busy: boolean;
  /** Resolves to whether the comment was accepted. */
  send: (text: string) => Promise<boolean>;
  close: () => void;
}

export function FeedbackNote({ given, busy, send, close }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = String(form.get('text') ?? '').trim();
    if (text === given.text || (await send(text))) close();
  };
  return (
    <form
      class="feedback-note"
      onSubmit={(event) => void onSubmit(event)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
    >
      <label>
        <span class="hidden">Your comment</span>
        <input
          name="text"
          dir="auto"
          class="field"
          maxLength={LONGEST}
          autocomplete="off"
          placeholder={
            given.type === 'up' ? 'What was good? (optional)' : 'What was wrong? (optional)'
          }
          defaultValue={given.text}
          ref={field}
        />
      </label>
      <button type="submit" class="button small" disabled={busy} aria-busy={busy}>
        Send
      </button>
      <button type="button" class="button small quiet" onClick={close}>
        Not now
      </button>
    </form>
  );
}
