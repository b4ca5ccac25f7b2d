// Shares a session with a person or by a link, and shows who has access now.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ListedSession } from '../../api/types';
import { Sharing } from '../../store/sharing';
import '../../styles/share.css';
import { useApp } from '../context';
import { Modal } from '../kit/modal';
import { ShareForm } from './form';
import { NewLink } from './link';
import { ShareList } from './list';

export function ShareDialog({ session }: { session: ListedSession }) {
  const { api } = useApp();
  const [sharing] = useState(() => new Sharing(api, session.id));
  const element = useRef<HTMLDialogElement>(null);
  const label = useId();
  useEffect(() => sharing.follow(), [sharing]);
  const link = sharing.link.value;
  return (
    <Modal
      element={element}
      class="dialog share"
      aria-labelledby={label}
      closedby={link ? 'closerequest' : 'any'} // a press beside it would lose the link
    >
      <h2 id={label} title={session.name}>
        Share “<bdi>{session.name || 'Untitled'}</bdi>”
      </h2>
      <div class="share-body">
        <ShareForm sharing={sharing} />
        {link && <NewLink key={link.share} url={link.url} />}
        <ShareList sharing={sharing} />
      </div>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={() => element.current?.close()}>
          Done
        </button>
      </div>
    </Modal>
  );
}
