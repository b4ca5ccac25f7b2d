// Asks for the name of a fork and creates it.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Forking, type ForkPoint } from '../../store/fork';
import { useApp } from '../context';
import { Dialog } from '../kit/dialog';
import { Quoted } from '../rewind/words';

export function ForkDialog({ point, name }: { point: ForkPoint; name: string }) {
  const app = useApp();
  const [, navigate] = useLocation();
  const [forking] = useState(() => new Forking(point, app));
  const run = async (form: FormData) => {
    const session = await forking.go(String(form.get('name')));
    navigate(`/s/${encodeURIComponent(session.id)}`);
  };
  const asks = point.from === 'question';
  return (
    <Dialog
      title={asks ? 'Fork from before this question' : 'Fork from this answer'}
      submit={{ label: 'Fork', run }}
    >
      <p>
        A new chat starts with everything {asks ? 'before' : 'up to'}{' '}
        <Quoted text={point.text} otherwise={asks ? 'this question' : 'this answer'} />
        {asks
          ? '. The question is put into its message field, to be changed and sent.'
          : ', which it includes.'}{' '}
        This chat does not change.
      </p>
      <label class="labelled">
        Name of the new chat
        <input
          name="name"
          dir="auto"
          class="field"
          maxLength={256}
          placeholder={`Fork of ${name || 'this chat'}`}
          autocomplete="off"
        />
      </label>
    </Dialog>
  );
}
