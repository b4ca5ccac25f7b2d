// A modal dialog, and the place where the page's open dialog is shown. The browser traps and restores
// the focus, and closes the dialog on Escape.

import { createContext, type DialogHTMLAttributes, type RefObject } from 'preact';
import { useCallback, useContext, useLayoutEffect, useRef } from 'preact/hooks';
import { useView } from '../context';

/** Removes the open dialog from the page, unless another one was opened since. */
const Leave = createContext(() => {});

/** The page's open dialog. Each opening is a new one, even of the same kind. */
export function OpenDialog() {
  const { dialog } = useView();
  const shown = dialog.value;
  const opened = useRef({ shown, count: 0 });
  if (opened.current.shown !== shown) opened.current = { shown, count: opened.current.count + 1 };
  const leave = useCallback(() => {
    if (dialog.peek() === shown) dialog.value = null;
  }, [dialog, shown]);
  return (
    shown && (
      <Leave.Provider key={opened.current.count} value={leave}>
        {shown}
      </Leave.Provider>
    )
  );
}

interface Props extends Omit<DialogHTMLAttributes<HTMLDialogElement>, 'onClose'> {
  /** The element, for those who close it. */
  element: RefObject<HTMLDialogElement>;
  /** Called after the user, or a call of close(), has closed it. */
  closed?: () => void;
}

export function Modal({ element, closed, children, closedby = 'any', ...rest }: Props) {
  const leave = useContext(Leave);
  const replaced = useRef(false);
  // At once: keys that follow go into it
  useLayoutEffect(() => {
    const { current } = element;
    current?.showModal();
    return () => {
      if (!current?.open) return;
      replaced.current = true;
      current.close(); // gives the focus back, for the dialog that follows
    };
  }, [element]);
  // The event comes later than the call of close(), possibly after another dialog was opened
  const onClose = () => {
    if (replaced.current) return;
    leave();
    closed?.();
  };
  return (
    <dialog {...rest} ref={element} closedby={closedby} onClose={onClose}>
      {children}
    </dialog>
  );
}
