// A session: header, conversation, message input, and the side panel.

import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Chat } from '../../store/chat';
import { ChatAgent } from '../agents/choice';
import { useApp, useView } from '../context';
import { useAddress } from '../history/address';
import { useTitle } from '../kit/hooks';
import { lazy, preloadWhenIdle } from '../kit/lazy';
import { Panel } from '../panel/panel';
import { panelTabs } from '../panel/tabs';
import { Announcer } from './announcer';
import { Composer } from './composer';
import { Bar, Header } from './header';
import { QueueView } from './queue';
import { Thread } from './thread';
import { useUndoKey } from './undo-key';
import { Unsent } from './unsent';
import { useVariants } from './variants';

const HistoryScreen = lazy(() => import('../history/screen').then((m) => m.HistoryScreen));

export function ChatScreen({ id }: { id: string }) {
  const app = useApp();
  const [chat, setChat] = useState<Chat | null>(() =>
    app.chat.peek()?.id === id ? app.chat.peek() : null,
  );
  const { at } = useAddress();
  useEffect(() => setChat(app.open(id, at !== '')), [app, id]);
  useEffect(() => () => app.close(), [app]);
  return chat?.id === id ? <Open key={id} chat={chat} /> : <main class="chat" aria-busy="true" />;
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
  if (chat.gone.value)
    return <Gone why={chat.ended.value ?? chat.gone.value} unsent={chat.draft.value} />;
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
    <>
      <ChatAgent chat={chat} />
      <Composer
        draft={chat.draft}
        files={chat.files}
        busy={chat.sending.value}
        running={chat.running.value}
        queues={chat.queues.value}
        stopping={chat.cancelling.value}
        onStop={() => void chat.cancel()}
        onEdit={() => chat.edit()}
        onSend={(text) => chat.send(text)}
      />
    </>
  );
}

const GONE: Record<number | string, string> = {
  revoked: 'This session is no longer shared with you.',
  expired: 'Your access to this session has expired.',
  403: 'You do not have access to this session.',
  404: 'This session does not exist.',
  410: 'This session was deleted.',
};

function Gone({ why, unsent }: { why: number | string; unsent: string }) {
  return (
    <main class="chat">
      <Bar />
      <div class="centred">
        <h1>{GONE[why] ?? 'This session cannot be shown.'}</h1>
        <Unsent text={unsent} />
        <Link href="/" class="button primary">
          New chat
        </Link>
      </div>
    </main>
  );
}
