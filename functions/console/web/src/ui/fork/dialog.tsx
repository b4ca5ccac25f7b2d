// Asks for the name of a fork and creates it.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Forking, type ForkPoint } from '../../store/fork';
import { useApp } from '../context';
import { Dialog } from '../kit/dialog';
import { quoted } from '../rewind/words';

export function ForkDialog({ point, name }: { point: ForkPoint; name: string }) {
  const app = useApp();
  const [, navigate] = useLocation();
  const [forking] = useState(() => new Forking(point, app));
  const run = async (form: FormData) => {
    const session = await forking.go(String(form.get('name')));
    navigate(`/s/${encodeURIComponent(session.id)}`);
  };
  const upTo = point.question
    ? `everything before ${quoted(point.question)}, which you can then change and send`
    : 'everything up to this answer';
  return (
    <Dialog title="Fork chat from here" submit={{ label: 'Fork', run }}>
      <p>A new chat starts with {upTo}. This chat does not change.</p>
      <label class="labelled">
        Name of the new chat
        <input
          name="name"
          class="field"
          maxLength={256}
          placeholder={`Fork of ${name || 'this chat'}`}
          autocomplete="off"
        />
      </label>
    </Dialog>
  );
}
