// A session: header, conversation, message input, and the side panel.

import { useEffect } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { ChatAgent } from '../agents/choice';
import { useView } from '../context';
import { useAddress } from '../history/address';
import { useTitle } from '../kit/hooks';
import { lazy, preloadWhenIdle } from '../kit/lazy';
import { Panel } from '../panel/panel';
import { panelTabs } from '../panel/tabs';
import { Announcer } from './announcer';
import { Composer } from './composer';
import { Gone } from './gone';
import { Header } from './header';
import { useChat } from './open';
import { QueueView } from './queue';
import { Thread } from './thread';
import { useUndoKey } from './undo-key';
import { Unsent } from './unsent';
import { useVariants } from './variants';

const HistoryScreen = lazy(() => import('../history/screen').then((m) => m.HistoryScreen));

export function ChatScreen({ id }: { id: string }) {
  const { at } = useAddress();
  const chat = useChat(id, at !== '');
  return chat ? <Open key={id} chat={chat} /> : <main class="chat" aria-busy="true" />;
}

function Open({ chat }: { chat: Chat }) {
  const { panel, moment, artifact } = useView();
  const { history } = useAddress();
  useUndoKey(chat);
  useVariants(chat);
  useTitle(chat.session.value?.name ?? '');
  useEffect(
    () => () => {
      moment.value = ''; // these belong to one session
      artifact.value = null;
    },
    [moment, artifact],
  );
  const loaded = chat.loaded.value;
  useEffect(() => {
    if (loaded) preloadWhenIdle(HistoryScreen, ...panelTabs.map(({ view }) => view));
  }, [loaded]);
  if (chat.gone.value) return <Gone chat={chat} />;
  return (
    <div class="columns" data-panel={panel.value !== ''}>
      <main
        class="chat"
        data-testid="chat"
        data-status={chat.state.value.status}
        aria-busy={!chat.loaded.value}
      >
        <Header chat={chat} />
        {history ? <HistoryScreen chat={chat} /> : <Talk chat={chat} />}
        <Announcer chat={chat} />
      </main>
      {panel.value && <Panel chat={chat} />}
    </div>
  );
}

function Talk({ chat }: { chat: Chat }) {
  return (
    <>
      <Thread chat={chat} rows={chat.layout.value} />
      <QueueView chat={chat} />
      <Writing chat={chat} />
    </>
  );
}

// The message input; a reader has a note in its place.
function Writing({ chat }: { chat: Chat }) {
  const { mine, write } = chat.rights.value;
  if (!write) {
    return (
      <div class="reading" data-testid="reading">
        {mine !== null && <p>You can read this chat. Only those who may write can ask.</p>}
        {mine !== null && <Unsent text={chat.draft.value} />}
      </div>
    );
  }
  return (
    <Composer
      draft={chat.draft}
      files={chat.files}
      trouble={chat.trouble}
      busy={chat.sending.value}
      running={chat.running.value}
      queues={chat.queues.value}
      stopping={chat.cancelling.value}
      onStop={() => void chat.cancel()}
      onEdit={() => chat.edit()}
      onSend={(text) => chat.send(text)}
    >
      <ChatAgent chat={chat} />
    </Composer>
  );
}
