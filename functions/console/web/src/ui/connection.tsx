// Says that what one sees may be old, while there is no connection.

import { useApp } from './context';

export function ConnectionBanner() {
  const { online, chat } = useApp();
  if (!online.value) {
    return (
      <p class="banner" role="status">
        You are offline. What happens is shown once you are back.
      </p>
    );
  }
  const open = chat.value;
  if (!open || open.gone.value || open.connection.value.state !== 'offline') return null;
  return (
    <p class="banner" role="status">
      The connection is lost. Reconnecting…
      <button type="button" class="button small" onClick={() => open.reconnect()}>
        Try now
      </button>
    </p>
  );
}
