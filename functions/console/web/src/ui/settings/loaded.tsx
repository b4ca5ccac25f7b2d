// Shows what is read from the API: that it is being read, why it cannot be read, or the value.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Loaded } from '../../store/loaded';

/** Reads a value, and again while the component is shown. */
export function useLoaded<T>(topic: string, read: () => Promise<T>): Loaded<T> {
  const loaded = useMemo(() => new Loaded(topic, read), [topic]);
  useEffect(() => loaded.start(), [loaded]);
  return loaded;
}

interface Props<T> {
  of: Loaded<T>;
  children: (value: T) => ComponentChildren;
}

export function Shown<T>({ of: loaded, children }: Props<T>) {
  const value = loaded.value.value;
  const failed = loaded.failed.value;
  return (
    <>
      {failed && (
        <div class="notice" role="alert">
          <p>
            {failed} {value !== null && 'What you see may be out of date.'}
          </p>
          <button type="button" class="button small" onClick={() => void loaded.reload()}>
            Try again
          </button>
        </div>
      )}
      {value !== null && children(value)}
      {value === null && !failed && (
        <p class="hint" role="status">
          Loading…
        </p>
      )}
    </>
  );
}
