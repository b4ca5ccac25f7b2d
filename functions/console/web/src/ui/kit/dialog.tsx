// A modal dialog. The browser traps and restores the focus, and closes it on Escape.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useApp, useView } from '../context';

interface Props {
  title: string;
  children: ComponentChildren;
  /** The dialog's action; the dialog stays open and busy until it has completed or failed. */
  submit: {
    label: string;
    run: (form: FormData) => Promise<void>;
    danger?: boolean;
    disabled?: boolean;
  };
}

export function Dialog({ title, children, submit }: Props) {
  const { toasts } = useApp();
  const { dialog } = useView();
  const ref = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const label = useId();
  useEffect(() => ref.current?.showModal(), []);

  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await submit.run(new FormData(event.currentTarget as HTMLFormElement));
      ref.current?.close();
    } catch (error) {
      toasts.fail(error);
      setBusy(false);
    }
  };
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-labelledby={label}
      onClose={() => {
        dialog.value = null;
      }}
      closedby="any"
    >
      <form method="dialog" onSubmit={onSubmit}>
        <h2 id={label}>{title}</h2>
        <div class="dialog-body">{children}</div>
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={() => ref.current?.close()}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button ${submit.danger ? 'danger' : 'primary'}`}
            disabled={busy || submit.disabled}
            aria-busy={busy}
          >
            {submit.label}
          </button>
        </div>
      </form>
    </dialog>
  );
}
