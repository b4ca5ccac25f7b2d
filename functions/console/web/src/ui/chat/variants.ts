// Loads the variants of a chat's questions once there can be any: after a rewind, or if there are
// forks.

import { useEffect } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { useApp } from '../context';

export function useVariants(chat: Chat): void {
  const { api, toasts, sessions } = useApp();
  const list = sessions.value;
  const forks = list?.list.value.some(({ fork }) => fork?.session_id === chat.id) ?? false;
  const needed = chat.epoch.value > 0 || chat.session.value?.fork != null || forks;
  useEffect(() => {
    if (!needed) return;
    let stop = () => {};
    let left = false;
    import('../../store/variants').then(
      ({ Variants }) => {
        if (left) return;
        const variants = new Variants(chat, { api, toasts, sessions: list });
        chat.variants.value = variants;
        stop = variants.start();
      },
      () => {}, // without a connection the chat is shown without them
    );
    return () => {
      left = true;
      stop();
      chat.variants.value = null;
    };
  }, [chat, api, toasts, list, needed]);
}
