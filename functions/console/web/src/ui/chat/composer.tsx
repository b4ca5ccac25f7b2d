// The message input. Enter sends, Shift+Enter starts a new line.

import type { Signal } from '@preact/signals';
import { ArrowUp, ListPlus, Square } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { keepText } from '../../store/drafts';
import type { DraftFiles } from '../../store/files';
import type { Trouble } from '../../store/trouble';
import { pressed } from '../keys/registry';
import { useNarrow } from '../kit/hooks';
import { IconButton } from '../kit/icon-button';
import { AttachButton, FileList, useFiles } from './attach';
import { Problem } from './problem';
import { canSend, TooLong } from './too-long';

interface Props {
  draft: Signal<string>;
  /** The files that are sent with it. */
  files: DraftFiles;
  /** Why something about it failed. */
  trouble: Trouble;
  /** The choice of the agent. */
  children?: ComponentChildren;
  /** A question is being sent. */
  busy: boolean;
  /** The agent is answering. */
  running: boolean;
  /** The question will wait until the answers before it are complete. */
  queues?: boolean;
  stopping?: boolean;
  onSend: (text: string) => Promise<boolean>;
  onStop?: () => void;
  /** Opens the newest question for editing; returns whether there is one. */
  onEdit?: () => boolean;
}

export function Composer(props: Props) {
  const { draft, files, trouble, busy, running, queues = false, stopping = false } = props;
  const { onSend, onStop, onEdit } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const narrow = useNarrow();
  const text = draft.value;
  const empty = text.trim() === '' && files.list.value.length === 0;
  const { add, addText, onPaste } = useFiles(files, trouble);

  useLayoutEffect(() => {
    const field = area.current;
    if (!field) return;
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight + (text === '' ? 0 : 2)}px`;
  }, [text]);
  // On a phone, focus would open the keyboard over the messages. An edit in progress keeps it.
  useEffect(() => {
    if (!narrow && !document.activeElement?.closest('.editor')) area.current?.focus();
  }, [narrow]);

  // A key may come before what was written just before it is rendered.
  const send = async () => {
    const written = draft.peek();
    if (busy || !canSend(written, files.list.peek().length)) return;
    draft.value = '';
    if (!(await onSend(written.trim()))) keepText(draft, written);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {files.list.value.length > 0 && <FileList files={files} />}
      <TooLong text={text}>
        <button
          type="button"
          class="button small"
          onClick={() => {
            if (addText(text)) draft.value = '';
          }}
        >
          Attach it as a file
        </button>
      </TooLong>
      <Problem trouble={trouble} />
      <div class="composer-field">
        <textarea
          ref={area}
          dir="auto"
          rows={1}
          value={text}
          placeholder={queues ? 'Ask the next question' : 'Ask something'}
          aria-label="Message"
          enterkeyhint="send"
          onInput={({ currentTarget }) => {
            draft.value = currentTarget.value;
          }}
          onPaste={onPaste}
          onKeyDown={(event) => {
            if (pressed(event, 'send')) {
              event.preventDefault();
              void send();
            } else if (text === '' && pressed(event, 'edit') && onEdit?.()) {
              event.preventDefault();
            }
          }}
        />
        <div class="composer-tools">
          <AttachButton add={add} />
          {props.children}
          {running && onStop && (
            <IconButton
              icon={Square}
              label="Stop"
              size={16}
              class="send stop"
              disabled={stopping}
              onClick={onStop}
            />
          )}
          {(!running || !onStop || text !== '' || !empty) && (
            <IconButton
              icon={queues ? ListPlus : ArrowUp}
              label={queues ? 'Add to the queue' : 'Send'}
              class="send"
              disabled={busy || !canSend(text, files.list.value.length)}
              onClick={send}
            />
          )}
        </div>
      </div>
    </form>
  );
}
