// The server's current state, loaded again whenever it may have changed.

import { useEffect, useState } from 'preact/hooks';
import { readState } from '../../api/state';
import type { Event, State } from '../../api/types';
import type { Chat } from '../../store/chat';
import { useApp } from '../context';

/** @param moments the events that changed state; each one, and each rewind, causes a reload */
export function useStateNow(chat: Chat, moments: readonly Event[]): State | null {
  const { api, toasts, online } = useApp();
  const [state, setState] = useState<State | null>(null);
  const [seen, setSeen] = useState(0); // other sessions may have changed what is shared
  const newest = `${chat.epoch.value} ${moments.at(-1)?.id ?? ''}`;
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') setSeen((times) => times + 1);
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  useEffect(() => {
    let current = true;
    readState(api, chat.id).then(
      (read) => current && setState(read),
      (error) => current && toasts.fail(error),
    );
    return () => {
      current = false;
    };
  }, [api, toasts, chat.id, newest, seen, online.value]);
  return state;
}
