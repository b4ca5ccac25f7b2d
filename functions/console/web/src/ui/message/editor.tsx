// Edits a question in its place. Enter asks it again, Shift+Enter starts a new line, Escape cancels.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import type { Message } from '../../store/message';
import { canSend, TooLong } from '../chat/too-long';
import './editor.css';

interface Props {
  chat: Chat;
  message: Message;
}

export function Editor({ chat, message }: Props) {
  const { revision } = chat;
  const area = useRef<HTMLTextAreaElement>(null);
  const text = revision.text.value;
  const files = message.blocks.filter(({ kind }) => kind === 'file').length;

  useLayoutEffect(() => {
    const field = area.current;
    if (!field) return;
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight + 2}px`;
  }, [text]);
  useEffect(() => {
    area.current?.focus();
    area.current?.setSelectionRange(text.length, text.length);
  }, []);

  const cancel = () => {
    revision.cancel();
    focusLater(
      `[data-actions="${CSS.escape(message.id)}"] :is([data-action=edit], [aria-haspopup])`,
    );
  };
  // A key may come before what was written just before it is rendered.
  const send = () => {
    if (chat.sending.peek() || !canSend(revision.text.peek(), files)) return;
    focusLater('.composer textarea');
    void revision.send();
  };
  return (
    <form
      class="editor"
      data-testid="editor"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        cancel();
      }}
    >
      <textarea
        ref={area}
        dir="auto"
        rows={1}
        value={text}
        aria-label="Edit the question"
        enterkeyhint="send"
        onInput={({ currentTarget }) => {
          revision.text.value = currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {files > 0 && (
        <p class="hint">{files === 1 ? 'The file stays.' : `The ${files} files stay.`}</p>
      )}
      <TooLong text={text} />
      <div class="editor-buttons">
        <button type="button" class="button small" onClick={cancel}>
          Cancel
        </button>
        <button
          type="submit"
          class="button small primary"
          disabled={chat.sending.value || !canSend(text, files)}
        >
          Ask again
        </button>
      </div>
    </form>
  );
}

// The editor disappears first.
function focusLater(selector: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus());
}
