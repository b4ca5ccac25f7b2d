// The turns of a chat on a page of their own.

import { useEffect } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { BackToChat } from '../chat/back';
import { Gone } from '../chat/gone';
import { Bar } from '../chat/header';
import { useChat } from '../chat/open';
import { addressOf } from '../history/address';
import { useTitle } from '../kit/hooks';
import { Owner } from '../share/owner';
import { turnsPath } from './address';
import { Turns } from './turns';

export function TurnsScreen({ id }: { id: string }) {
  const chat = useChat(id);
  const [params] = useSearchParams();
  const [, navigate] = useLocation();
  const turn = params.get('turn') ?? '';
  const session = chat?.session.value;
  const name = session?.name || 'Untitled';
  useTitle(session ? `Turns of ${name}` : 'Turns');
  useEffect(() => document.querySelector<HTMLElement>('.turns-screen h1')?.focus(), []);
  if (!chat) return <main class="chat" aria-busy="true" />;
  if (chat.gone.value) return <Gone chat={chat} />;
  return (
    <main class="chat turns-screen">
      <Bar>
        <BackToChat href={addressOf(id, { at: turn })} />
        <h1 tabIndex={-1}>
          <span class="title" title={name}>
            Turns of <bdi>{name}</bdi>
          </span>
        </h1>
        {session && <Owner session={session} />}
      </Bar>
      <div class="turns-page">
        <Turns
          chat={chat}
          opened={turn}
          onOpen={(invocation) => navigate(turnsPath(id, invocation), { replace: true })}
        />
      </div>
    </main>
  );
}
