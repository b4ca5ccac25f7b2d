// A chat including everything hidden by rewinds.

import { useEffect, useState } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { History } from '../../store/history';
import { useApp } from '../context';
import { useShow } from './address';
import { HistoryContext } from './place';
import { HistoryThread } from './thread';

export function HistoryScreen({ chat }: { chat: Chat }) {
  const { api } = useApp();
  const show = useShow();
  const [history, setHistory] = useState<History | null>(null);
  useEffect(() => {
    const opened = new History(chat, api);
    setHistory(opened);
    return opened.start();
  }, [chat, api]);
  return (
    <>
      {history ? (
        <HistoryContext.Provider value={history}>
          <HistoryThread chat={chat} history={history} />
        </HistoryContext.Provider>
      ) : (
        <div class="thread-frame" />
      )}
      <div class="history-bar">
        <p>This is the complete history. Messages hidden by a rewind are greyed out.</p>
        <button type="button" class="button primary" onClick={() => show(chat.id)}>
          Back to the chat
        </button>
      </div>
    </>
  );
}
