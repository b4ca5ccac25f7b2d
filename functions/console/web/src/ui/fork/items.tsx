// The menu item of a message that continues from there in a new chat.

import { GitFork } from 'lucide-preact';
import { textOf } from '../../store/message';
import { useView } from '../context';
import { questionOf, usePlace } from '../history/place';
import { lazy } from '../kit/lazy';
import type { MenuItem } from '../kit/menu';
import type { MessageProps } from '../message/props';

const ForkDialog = lazy(() => import('./dialog').then((m) => m.ForkDialog), 'dialog');

/** A fork from a question excludes it, to ask another one; a fork from an answer includes it. */
export function useForkItems(props: MessageProps): MenuItem[] {
  const { dialog } = useView();
  const place = usePlace(props);
  const { chat, message, turn } = props;
  const answers = message.role === 'agent';
  if (!place || !chat.rights.value.own || (answers && turn.outcome === 'running')) return [];
  const run = async () => {
    const point = {
      session: chat.id,
      before: answers ? place.following() : message.invocation,
      from: answers ? 'answer' : 'question',
      text: answers ? textOf(message) : questionOf(await chat.whole(turn)),
    } as const;
    dialog.value = <ForkDialog point={point} name={chat.session.peek()?.name ?? ''} />;
  };
  const label = answers ? 'Fork from this answer' : 'Fork from before this question';
  return [{ id: 'fork', label, icon: GitFork, preload: ForkDialog.preload, run: () => void run() }];
}
