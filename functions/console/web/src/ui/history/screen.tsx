// A chat with everything that rewinds have hidden from it.

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
        <p>You see everything that was ever said here. What a rewind has hidden is greyed.</p>
        <button type="button" class="button primary" onClick={() => show(chat.id)}>
          Back to the chat
        </button>
      </div>
    </>
  );
}
