// A dialog that asks, with a button for its action and one to cancel.

import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { useApp } from '../context';
import { Modal } from './modal';

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
  const element = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const label = useId();

  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await submit.run(new FormData(event.currentTarget as HTMLFormElement));
      element.current?.close();
    } catch (error) {
      toasts.fail(error);
      setBusy(false);
    }
  };
  return (
    <Modal element={element} class="dialog" aria-labelledby={label}>
      <form method="dialog" onSubmit={onSubmit}>
        <h2 id={label}>{title}</h2>
        <div class="dialog-body">{children}</div>
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={() => element.current?.close()}>
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
    </Modal>
  );
}
