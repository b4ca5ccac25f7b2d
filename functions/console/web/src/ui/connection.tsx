// Warns while there is no connection, since the page may be out of date.

import { useApp } from './context';

export function ConnectionBanner() {
  const { online, chat } = useApp();
  if (!online.value) {
    return (
      <p class="banner" role="status">
        You are offline. Updates will appear when you are back online.
      </p>
    );
  }
  const open = chat.value;
  if (!open || open.gone.value || open.connection.value.state !== 'offline') return null;
  return (
    <p class="banner" role="status">
      Connection lost. Reconnecting…
      <button type="button" class="button small" onClick={() => open.reconnect()}>
        Retry now
      </button>
    </p>
  );
}
