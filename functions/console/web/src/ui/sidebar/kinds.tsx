// Chooses the list: the user's own sessions, or those that others share.

import { useEffect } from 'preact/hooks';
import type { ListKind } from '../../store/sessions';
import { useApp, useView } from '../context';

const KINDS: Record<ListKind, string> = { mine: 'Mine', shared: 'Shared with me' };

export function ListKinds() {
  const { list } = useView();
  useOpenList();
  return (
    <fieldset class="list-kinds" aria-label="Which chats">
      {(Object.keys(KINDS) as ListKind[]).map((kind) => (
        <button
          type="button"
          key={kind}
          aria-pressed={list.value === kind}
          onClick={() => {
            list.value = kind;
          }}
        >
          {KINDS[kind]}
        </button>
      ))}
    </fieldset>
  );
}

// Shows the list that has the open session, each time another one is opened.
function useOpenList(): void {
  const { list } = useView();
  const chat = useApp().chat.value;
  const id = chat?.id;
  const mine = chat?.rights.value.mine ?? null;
  useEffect(() => {
    if (id !== undefined && mine !== null) list.value = mine ? 'mine' : 'shared';
  }, [list, id, mine]);
}
