// The page that a link to a shared session opens: it says what accepting means, accepts, and opens
// the session. The token stays in the address until then, so that a reload or a sign-in loses nothing.

import { useEffect, useState } from 'preact/hooks';
import { ConflictError, NotFoundError, ValidationError } from 'rethread';
import { Link, useLocation } from 'wouter-preact';
import { acceptShare } from '../../api/shares';
import { type Invitation, invitationIn } from '../../store/link';
import { Bar } from '../chat/header';
import { useApp, useView } from '../context';
import { useTitle } from '../kit/hooks';

type Ending = 'damaged' | 'over' | 'own' | 'full';

const ENDINGS: Record<Ending, { title: string; text: string }> = {
  damaged: {
    title: 'This link is incomplete',
    text: 'A part of it was lost on the way. Copy the whole link, or ask for another one.',
  },
  over: {
    title: 'This link does not work any more',
    text: 'It has expired or was revoked, or it was not copied completely. Ask for another one.',
  },
  own: {
    title: 'This link leads to your own chat',
    text: 'Others can accept it. You need no link to your own chats.',
  },
  full: {
    title: 'No more people can accept this link',
    text: 'As many as a link allows have accepted it. Ask for another one.',
  },
};

export function JoinPage() {
  const [invitation, setInvitation] = useState(() => invitationIn(location.hash));
  useEffect(() => {
    const another = () => setInvitation(invitationIn(location.hash));
    addEventListener('hashchange', another);
    return () => removeEventListener('hashchange', another);
  }, []);
  useTitle('Invitation');
  return (
    <main class="chat">
      <Bar />
      <div class="centred join">
        {invitation ? (
          <Invited key={invitation.token} invitation={invitation} />
        ) : (
          <Ended why="damaged" session="" />
        )}
      </div>
    </main>
  );
}

function Invited({ invitation }: { invitation: Invitation }) {
  const { api, auth, shared, toasts } = useApp();
  const { list } = useView();
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [ending, setEnding] = useState<Ending | null>(null);
  if (ending) return <Ended why={ending} session={invitation.session} />;

  const accept = async () => {
    setBusy(true);
    try {
      const { session_id: id } = await acceptShare(api, invitation.token);
      shared.value?.changed();
      list.value = 'shared';
      navigate(`/s/${encodeURIComponent(id)}`, { replace: true });
    } catch (error) {
      const why = endingOf(error);
      if (why) history.replaceState(null, '', location.pathname);
      else toasts.fail(error);
      setEnding(why);
      setBusy(false);
    }
  };
  return (
    <>
      <h1>You were invited to a chat</h1>
      <p>
        If you accept, it opens and is in your list “Shared with me”. Its owner sees that somebody
        has accepted the link.
      </p>
      <p class="hint">
        You are signed in as <bdi>{auth.user.value?.name}</bdi>.
      </p>
      <div class="join-buttons">
        <button
          type="button"
          class="button primary"
          disabled={busy}
          aria-busy={busy}
          onClick={() => void accept()}
        >
          Accept and open
        </button>
        <Link href="/" replace class="button">
          Not now
        </Link>
      </div>
    </>
  );
}

// Null for a failure after which one can try again.
function endingOf(error: unknown): Ending | null {
  if (error instanceof NotFoundError) return 'over';
  if (error instanceof ConflictError) return 'full';
  if (error instanceof ValidationError) return 'own';
  return null;
}

function Ended({ why, session }: { why: Ending; session: string }) {
  const { title, text } = ENDINGS[why];
  const opens = why === 'own' && session !== '';
  return (
    <>
      <h1>{title}</h1>
      <p>{text}</p>
      <Link href={opens ? `/s/${encodeURIComponent(session)}` : '/'} replace class="button primary">
        {opens ? 'Open the chat' : 'New chat'}
      </Link>
    </>
  );
}
