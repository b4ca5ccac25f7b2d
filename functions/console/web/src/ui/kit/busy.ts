// One action at a time.

import { useRef, useState } from 'preact/hooks';

/**
 * Whether an action is under way, and a function that starts one unless it is. Failures are shown in a
 * toast.
 */
export function useBusy(toasts: {
  fail: (error: unknown) => void;
}): [busy: boolean, run: (action: () => Promise<void>) => void] {
  const started = useRef(false);
  const [busy, setBusy] = useState(false);
  const run = (action: () => Promise<void>) => {
    if (started.current) return;
    started.current = true;
    setBusy(true);
    action()
      .catch((error) => toasts.fail(error))
      .finally(() => {
        started.current = false;
        setBusy(false);
      });
  };
  return [busy, run];
}
