// The shares in force, each of which can be revoked.

import { CircleUser, Link2, X } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Share } from '../../api/types';
import type { Sharing } from '../../store/sharing';
import { useApp } from '../context';
import { IconButton } from '../kit/icon-button';
import { exact } from '../kit/time';

export function ShareList({ sharing }: { sharing: Sharing }) {
  const [asking, setAsking] = useState(''); // id of the share that will be revoked if confirmed
  const [status, setStatus] = useState('');
  const title = useRef<HTMLHeadingElement>(null);
  const list = sharing.list.value;
  return (
    <section class="share-now" aria-labelledby="share-now-title">
      <h3 id="share-now-title" ref={title} tabIndex={-1}>
        Who has access{list && list.length > 0 && ` (${list.length})`}
      </h3>
      <p class="hidden" role="status">
        {status}
      </p>
      {sharing.failed.value && (
        <p class="share-error" role="alert">
          The list could not be loaded. It will be tried again.
        </p>
      )}
      {!list && !sharing.failed.value && <p class="hint">Loading…</p>}
      {list?.length === 0 && <p class="hint">Only you. A share ends when you revoke it here.</p>}
      {list && list.length > 0 && (
        <ul>
          {list.map((share) => (
            <ShareRow
              key={share.id}
              share={share}
              asking={asking === share.id}
              ask={(yes) => setAsking(yes ? share.id : '')}
              revoke={async () => {
                await sharing.revoke(share);
                setAsking('');
                setStatus(`Revoked ${nameOf(share)}.`);
                title.current?.focus();
              }}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

interface RowProps {
  share: Share;
  asking: boolean;
  ask: (yes: boolean) => void;
  revoke: () => Promise<void>;
}

function ShareRow({ share, asking, ask, revoke }: RowProps) {
  const { user_id: user } = share;
  const Icon = user ? CircleUser : Link2;
  return (
    <li class="share-row" data-testid="share">
      <Icon size={18} aria-hidden="true" />
      <p>
        <bdi class="share-who" title={user ?? undefined}>
          {user ?? 'Link'}
        </bdi>
        <small>{termsOf(share)}</small>
      </p>
      {asking ? (
        <Confirm revoke={revoke} keep={() => ask(false)} />
      ) : (
        <IconButton icon={X} label={`Revoke ${nameOf(share)}`} onClick={() => ask(true)} />
      )}
    </li>
  );
}

function Confirm({ revoke, keep }: { revoke: () => Promise<void>; keep: () => void }) {
  const { toasts } = useApp();
  const [busy, setBusy] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const run = async () => {
    setBusy(true);
    try {
      await revoke();
    } catch (error) {
      toasts.fail(error);
      setBusy(false);
    }
  };
  return (
    <fieldset
      class="share-confirm"
      aria-label="End this access?"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // the dialog stays open
        event.stopPropagation();
        keep();
      }}
    >
      <button
        type="button"
        ref={button}
        class="button small danger"
        disabled={busy}
        aria-busy={busy}
        onClick={() => void run()}
      >
        Revoke
      </button>
      <button type="button" class="button small" onClick={keep}>
        Keep
      </button>
    </fieldset>
  );
}

const nameOf = ({ user_id: user }: Share): string =>
  user ? `the access of \u2068${user}\u2069` : 'the link';

function termsOf(share: Share): string {
  const { access, created_time: since, expires_time: until, accepted_count: accepted } = share;
  return [
    access === 'write' ? 'Can write' : 'Can read',
    `since ${exact(since)}`,
    until === null ? 'no end' : `until ${exact(until)}`,
    ...(accepted === undefined ? [] : [acceptance(accepted)]),
  ].join(' · ');
}

function acceptance(count: number): string {
  if (count === 0) return 'not accepted yet';
  return count === 1 ? 'accepted by 1 person' : `accepted by ${count} people`;
}
