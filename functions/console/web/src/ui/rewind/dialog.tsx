// Previews a rewind and executes it.

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Session } from '../../api/types';
import type { Chat } from '../../store/chat';
import type { History } from '../../store/history';
import { Rewinding, type RewindTarget } from '../../store/rewind';
import { effectOf, eventsBefore, type RewindEffect } from '../../store/rewind-effect';
import { useApp } from '../context';
import { Dialog } from '../kit/dialog';
import { Conflicts } from './conflicts';
import { Restored } from './restored';
import { effectText, wordsFor } from './words';

interface Props {
  chat: Chat;
  target: RewindTarget;
  /** The complete log, in the history view. */
  history: History | null;
}

export function RewindDialog({ chat, target, history }: Props) {
  const app = useApp();
  const [, navigate] = useLocation();
  const [rewinding] = useState(() => {
    const { api } = app;
    const changed = (session: Session) => app.changed(chat, session);
    return new Rewinding(target, chat, { api, changed });
  });
  useEffect(() => rewinding.start(), [rewinding]);
  const { title, submit, Lead } = wordsFor(target);
  const effect = useEffectOf(chat, target, history);
  // Messages that are not loaded may name other versions
  const partly = target.kind === 'rewind' && chat.older.more.value;
  const artifacts = partly ? undefined : effect?.artifacts;
  const ready = rewinding.preview.value !== null;

  const run = async () => {
    await rewinding.go();
    if (history) navigate(`/s/${encodeURIComponent(chat.id)}`);
  };
  return (
    <Dialog
      title={title}
      submit={{
        label: rewinding.stops.value ? `Stop the answer and ${lower(submit)}` : submit,
        run,
        disabled: !ready,
      }}
    >
      <p>
        <Lead {...target} /> {effect && effectText(effect)} Nothing is deleted: everything stays in
        the history.
      </p>
      {rewinding.stops.value && (
        <p class="notice" role="status">
          An answer is being written. It will be stopped.
        </p>
      )}
      <Preview rewinding={rewinding} artifacts={artifacts} />
      <Conflicts rewinding={rewinding} />
    </Dialog>
  );
}

interface PreviewProps {
  rewinding: Rewinding;
  artifacts: RewindEffect['artifacts'] | undefined;
}

function Preview({ rewinding, artifacts }: PreviewProps) {
  const preview = rewinding.preview.value;
  if (rewinding.failed.value) {
    return (
      <div class="notice" role="alert">
        <p>{rewinding.failed.value}</p>
        <button type="button" class="button small" onClick={() => void rewinding.loadPreview()}>
          Check again
        </button>
      </div>
    );
  }
  if (!preview) {
    return (
      <p class="hint" role="status">
        Checking what would change…
      </p>
    );
  }
  return <Restored restored={preview.restored} now={preview.now} artifacts={artifacts} />;
}

// The effect follows the chat while the dialog is open.
function useEffectOf(
  chat: Chat,
  { kind, before }: RewindTarget,
  history: History | null,
): RewindEffect | null {
  const now = chat.items.value;
  if (kind !== 'rewind') {
    const then = history?.shownBefore(before);
    return then ? effectOf(now, then) : null;
  }
  const effect = effectOf(now, eventsBefore(now, before));
  // Messages that are not loaded may name versions too
  return chat.older.more.value ? { ...effect, artifacts: null } : effect;
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
