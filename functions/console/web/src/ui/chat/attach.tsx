// Adds files to a question: with a button, by dropping them anywhere on the page, or by pasting. A
// text that is too long for the field becomes a file too.

import { Paperclip } from 'lucide-preact';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import type { DraftFiles } from '../../store/files';
import type { Trouble } from '../../store/trouble';
import { useApp } from '../context';
import { IconButton } from '../kit/icon-button';
import { lazy } from '../kit/lazy';
import { LONGEST } from './too-long';

/** Returns whether all were added; otherwise a message says why. */
type Add = (files: Iterable<File>) => boolean;

export const FileList = lazy(() => import('./files').then((m) => m.FileList));

export function useFiles(files: DraftFiles, trouble: Trouble) {
  const { toasts } = useApp();
  const add: Add = useCallback(
    (given) => {
      const refused = files.add(given);
      if (refused) trouble.fail(refused);
      else trouble.clear();
      return refused === '';
    },
    [files, trouble],
  );
  useDrop(add);
  const addText = (text: string) => {
    const added = add([new File([text], 'Pasted text.txt', { type: 'text/plain' })]);
    if (added) toasts.say('The text is too long for the message field. It was attached as a file.');
    return added;
  };
  const onPaste = (event: ClipboardEvent) => {
    const data = event.clipboardData;
    const text = data?.getData('text/plain') ?? '';
    if (lengthWith(event.currentTarget as HTMLTextAreaElement, text) > LONGEST) {
      event.preventDefault();
      addText(text);
      return;
    }
    // Text that was copied from a document often comes with a picture of itself
    if (!data || data.files.length === 0 || data.types.includes('text/plain')) return;
    event.preventDefault();
    add(data.files);
  };
  return { add, addText, onPaste };
}

/** The length of a field's text after a paste. */
const lengthWith = ({ value, selectionStart, selectionEnd }: HTMLTextAreaElement, text: string) =>
  text === '' ? 0 : value.length - (selectionEnd - selectionStart) + text.length;

// A part of the page with a place of its own for files handles them itself.
function useDrop(add: Add): void {
  useEffect(() => {
    const hasFiles = (event: DragEvent) =>
      !event.defaultPrevented && event.dataTransfer?.types.includes('Files');
    const over = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
      mark(event.dataTransfer?.types.includes('Files') === true);
    };
    const leave = (event: DragEvent) => {
      if (!event.relatedTarget) mark(false); // it has left the window
    };
    const drop = (event: DragEvent) => {
      mark(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      add(event.dataTransfer?.files ?? []);
    };
    const handlers = { dragover: over, dragleave: leave, drop };
    for (const [name, handler] of Object.entries(handlers)) {
      document.addEventListener(name, handler as EventListener);
    }
    return () => {
      mark(false);
      for (const [name, handler] of Object.entries(handlers)) {
        document.removeEventListener(name, handler as EventListener);
      }
    };
  }, [add]);
}

const mark = (over: boolean) => document.documentElement.classList.toggle('dropping', over);

export function AttachButton({ add }: { add: Add }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton
        icon={Paperclip}
        label="Attach files"
        class="attach"
        onClick={() => input.current?.click()}
      />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ currentTarget }) => {
          add([...(currentTarget.files ?? [])]);
          currentTarget.value = ''; // allows choosing the same file again
        }}
      />
    </>
  );
}
