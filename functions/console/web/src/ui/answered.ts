// Says that an answer has ended in a chat that is not open.

import { effect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Sessions } from '../store/sessions';
import { quote } from '../store/text';
import { useApp } from './context';

export function useAnsweredNotes(): void {
  const app = useApp();
  const [, navigate] = useLocation();
  const { sessions, shared } = app;
  useEffect(() => {
    const follow = (list: Sessions | null) => {
      if (!list) return () => {};
      let told = list.answered.peek();
      return effect(() => {
        const now = list.answered.value;
        const fresh = [...now].filter((id) => !told.has(id) && app.chat.peek()?.id !== id);
        told = now;
        tell(fresh.map((id) => ({ id, name: nameIn(list, id) })));
      });
    };
    const tell = (chats: { id: string; name: string }[]) => {
      const [first] = chats;
      if (!first) return;
      if (chats.length > 1) return app.toasts.say(`${chats.length} chats have new answers.`);
      app.toasts.say(`${quote(first.name || 'Untitled')} has a new answer.`, {
        label: 'Open',
        run: () => navigate(`/s/${encodeURIComponent(first.id)}`),
      });
    };
    const ends = [follow(sessions.value), follow(shared.value)];
    return () => {
      for (const end of ends) end();
    };
  }, [app, navigate, sessions.value, shared.value]);
}

const nameIn = ({ list }: Sessions, id: string): string =>
  list.peek().find((session) => session.id === id)?.name ?? '';
