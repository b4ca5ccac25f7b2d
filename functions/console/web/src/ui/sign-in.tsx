// The sign-in: a name on a developer's machine, otherwise the identity provider.

import { useState } from 'preact/hooks';
import { BASE } from '../config';
import { JOIN } from '../store/link';
import { useApp } from './context';
import { Mark } from './kit/brand';
import { useTitle } from './kit/hooks';

export function SignIn() {
  const { auth, config, toasts } = useApp();
  const [busy, setBusy] = useState(false);
  useTitle('Sign in');
  const { kind } = config.sign_in;
  const invited = location.pathname === BASE + JOIN;

  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(
      new FormData(event.currentTarget as HTMLFormElement).get('name') ?? '',
    ).trim();
    if (busy || (kind === 'dev' && !name)) return;
    setBusy(true);
    try {
      await auth.signIn(name);
    } catch (error) {
      toasts.fail(error);
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <form onSubmit={onSubmit}>
        <Mark size={44} />
        <h1>Rethread</h1>
        <p>
          {invited
            ? 'You were invited to a chat. Sign in to open it.'
            : 'Conversations with agents that you can watch live, rewind and fork.'}
        </p>
        {kind === 'dev' && (
          <label>
            Your name
            <input
              name="name"
              class="field"
              required
              maxLength={128}
              autocomplete="username"
              autocapitalize="off"
              spellcheck={false}
              defaultValue="alice"
              ref={(input) => input?.select()}
            />
            <small>Any name works here. Each name has its own chats.</small>
          </label>
        )}
        {kind === 'none' ? (
          <p class="hint">
            Sign-in is not configured for this deployment. Set the console's client id.
          </p>
        ) : (
          <button type="submit" class="button primary large" disabled={busy} aria-busy={busy}>
            Sign in
          </button>
        )}
      </form>
    </main>
  );
}
