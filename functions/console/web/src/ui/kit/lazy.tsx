// Components that are loaded when they are first shown, so that the first screen stays light. If that
// fails, because the browser is offline or a new deployment has replaced the files, they say so.

import type { ComponentChildren, ComponentType, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Modal } from './modal';
import { reloadStyles } from './styles';

export interface Lazy<P> {
  (props: P): VNode;
  /** Begins to load it, for instance when the pointer is over the button that shows it. */
  preload: () => void;
}

type Loaded<P> = { component: ComponentType<P> } | 'failed' | null;

/**
 * A component with the same props as the one that is loaded:
 *
 *     const Settings = lazy(() => import('./settings').then((m) => m.Settings));
 *
 * @param kind `dialog` for one that is itself a modal dialog
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  kind: 'part' | 'dialog' = 'part',
): Lazy<P> {
  let loaded: Loaded<P> = null;
  let loading: Promise<Loaded<P>> | null = null;
  const start = (): Promise<Loaded<P>> => {
    loading ??= reloadStyles()
      .then(load)
      .then(
        (component) => {
          loaded = { component };
          return loaded;
        },
        () => {
          loading = null; // the next attempt loads it again
          return 'failed';
        },
      );
    return loading;
  };
  const Frame = kind === 'dialog' ? DialogFrame : PartFrame;
  const Deferred = (props: P): VNode => {
    const [state, setState] = useState<Loaded<P>>(loaded);
    const [tries, setTries] = useState(0);
    useEffect(() => {
      if (loaded) return setState(loaded);
      let shown = true;
      setState(null);
      void start().then((result) => shown && setState(result));
      return () => {
        shown = false;
      };
    }, [tries]);
    if (state === 'failed') {
      return (
        <Frame>
          <Failed again={() => setTries(tries + 1)} />
        </Frame>
      );
    }
    if (!state)
      return (
        <Frame>
          <Loading />
        </Frame>
      );
    const Component = state.component;
    return <Component {...props} />;
  };
  return Object.assign(Deferred, { preload: () => void start() });
}

/** Begins to load components while the browser has nothing else to do. */
export function preloadWhenIdle(...components: readonly Pick<Lazy<never>, 'preload'>[]): void {
  const start = () => {
    for (const { preload } of components) preload();
  };
  if ('requestIdleCallback' in globalThis) requestIdleCallback(start, { timeout: 5000 });
  else setTimeout(start, 1000);
}

function PartFrame({ children }: { children: ComponentChildren }) {
  return <div class="lazy">{children}</div>;
}

function DialogFrame({ children }: { children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  return (
    <Modal element={element} class="dialog lazy" aria-label="Loading">
      {children}
    </Modal>
  );
}

function Loading() {
  return (
    <p class="hint lazy-wait" role="status">
      Loading…
    </p>
  );
}

function Failed({ again }: { again: () => void }) {
  return (
    <div role="alert">
      <p>
        This part of the page could not be loaded. Check the connection and try again. If the
        console was updated meanwhile, reload the page.
      </p>
      <div class="lazy-buttons">
        <button type="button" class="button" onClick={() => location.reload()}>
          Reload
        </button>
        <button type="button" class="button primary" onClick={again}>
          Try again
        </button>
      </div>
    </div>
  );
}
