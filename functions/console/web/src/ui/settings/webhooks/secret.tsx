// The secret that signs a webhook's messages: shown on request, and replaced.

import { useEffect, useState } from 'preact/hooks';
import type { WebhookSecret } from 'rethread';
import { Once } from '../../../store/once';
import { useApp, useView } from '../../context';
import { useBusy } from '../../kit/busy';
import { CopyButton } from '../../kit/copy-button';
import { Dialog } from '../../kit/dialog';
import { exact } from '../../kit/time';

export function Secret({ webhook }: { webhook: string }) {
  const { api, toasts } = useApp();
  const { dialog } = useView();
  const [secret, setSecret] = useState<WebhookSecret | null>(null);
  const [busy, run] = useBusy(toasts);
  useEffect(() => setSecret(null), [webhook]);
  return (
    <section class="group" aria-labelledby="secret">
      <h3 id="secret">Secret</h3>
      {secret && (
        <div class="secret">
          <code data-testid="secret">{secret.secret}</code>
          <CopyButton text={secret.secret} />
        </div>
      )}
      {secret?.previous.map(({ expires_time }) => (
        <p key={expires_time} class="hint">
          An earlier secret signs messages too, until {exact(expires_time)}.
        </p>
      ))}
      <div class="settings-actions">
        <button
          type="button"
          class="button small"
          disabled={busy}
          onClick={() =>
            secret
              ? setSecret(null)
              : run(async () => setSecret(await api.webhooks.secret(webhook)))
          }
        >
          {secret ? 'Hide the secret' : 'Show the secret'}
        </button>
        <button
          type="button"
          class="button small"
          onClick={() => {
            dialog.value = <Rotate webhook={webhook} rotated={setSecret} />;
          }}
        >
          Replace…
        </button>
      </div>
    </section>
  );
}

interface RotateProps {
  webhook: string;
  rotated: (secret: WebhookSecret) => void;
}

function Rotate({ webhook, rotated }: RotateProps) {
  const { api } = useApp();
  const [once] = useState(() => new Once());
  const run = async (form: FormData) => {
    const own = String(form.get('secret')).trim();
    const body = { revoke: form.has('revoke'), ...(own && { secret: own }) };
    rotated(
      await once.write(body, (idempotencyKey) =>
        api.webhooks.rotateSecret(webhook, body, { idempotencyKey }),
      ),
    );
  };
  return (
    <Dialog title="Replace the secret" submit={{ label: 'Replace', run }}>
      <p>
        For 24 hours messages carry both signatures, of the new secret and of the old one, so that
        your server can change over without a gap.
      </p>
      <label class="labelled">
        New secret
        <input
          name="secret"
          class="field"
          placeholder="Generated"
          autocomplete="off"
          spellcheck={false}
          autocapitalize="off"
        />
      </label>
      <label class="choice">
        <input type="checkbox" name="revoke" />
        <span>
          End the old secret at once, in case it has leaked
          <small>Your server refuses messages until it has the new one.</small>
        </span>
      </label>
    </Dialog>
  );
}
