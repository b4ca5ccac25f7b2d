// What went wrong with the message field, beside it.

import { X } from 'lucide-preact';
import type { Trouble } from '../../store/trouble';
import { IconButton } from '../kit/icon-button';

export function Problem({ trouble }: { trouble: Trouble }) {
  const text = trouble.text.value;
  if (!text) return null;
  return (
    <div role="alert" class="composer-problem" data-testid="problem">
      <p dir="auto">{text}</p>
      <IconButton icon={X} label="Dismiss" size={16} onClick={() => trouble.clear()} />
    </div>
  );
}
