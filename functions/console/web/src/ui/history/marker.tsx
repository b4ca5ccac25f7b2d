// A rewind, at its position in the log.

import { Undo2 } from 'lucide-preact';
import type { Chat } from '../../store/chat';
import type { History } from '../../store/history';
import type { Marker } from '../../store/history-rows';
import { useView } from '../context';
import { exact } from '../kit/time';
import { RewindDialog } from '../rewind/dialog';

interface Props {
  chat: Chat;
  history: History;
  marker: Marker;
}

export function MarkerView({ chat, history, marker }: Props) {
  const { dialog } = useView();
  const { invocation, time, discard } = marker;
  const undo = () => {
    const target = { kind: 'undo', from: 'marker', text: '', before: invocation, time } as const;
    dialog.value = <RewindDialog chat={chat} target={target} history={history} />;
  };
  return (
    <div class="marker" data-testid="marker" data-invocation={invocation}>
      <Undo2 size={15} aria-hidden="true" />
      <p>
        {discard ? 'Unfinished answer discarded' : 'Chat rewound'}{' '}
        <time dateTime={new Date(time).toISOString()}>{exact(time)}</time>
      </p>
      {chat.rights.value.write && (
        <button type="button" class="button small" onClick={undo}>
          {discard ? 'Restore it' : 'Undo this rewind'}
        </button>
      )}
    </div>
  );
}
