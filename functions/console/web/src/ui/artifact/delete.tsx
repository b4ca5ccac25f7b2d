// Asks before an artifact is deleted.

import { type Artifacts, readable } from '../../store/artifacts';
import { useApp } from '../context';
import { Dialog } from '../kit/dialog';

interface Props {
  artifacts: Artifacts;
  name: string;
  done: () => void;
}

export function DeleteArtifact({ artifacts, name, done }: Props) {
  const { toasts } = useApp();
  const { label, shared } = readable(name);
  const run = async () => {
    await artifacts.remove(name);
    toasts.say(`Deleted “${label}”.`);
    done();
  };
  return (
    <Dialog title="Delete artifact?" submit={{ label: 'Delete', danger: true, run }}>
      <p>
        “{label}” will no longer be listed{shared && ' in any of your chats'}. Its versions can
        still be opened from the messages that mention them.
      </p>
    </Dialog>
  );
}
