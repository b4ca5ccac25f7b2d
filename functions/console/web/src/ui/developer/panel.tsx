// The tab "Turns" of the side panel.

import { Maximize2 } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Chat } from '../../store/chat';
import { turnsPath } from './address';
import { Turns } from './turns';

export function TurnsPanel({ chat }: { chat: Chat }) {
  const [opened, setOpened] = useState('');
  return (
    <>
      <div class="turns-head">
        <Link href={turnsPath(chat.id, opened)} class="button small quiet">
          <Maximize2 size={14} aria-hidden="true" />
          Wide view
        </Link>
      </div>
      <Turns chat={chat} opened={opened} onOpen={setOpened} />
    </>
  );
}
