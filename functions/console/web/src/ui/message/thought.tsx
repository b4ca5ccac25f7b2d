// Thinking, folded.

import { Brain } from 'lucide-preact';
import { Markdown } from '../markdown/markdown';

export function Thought({ text, growing }: { text: string; growing: boolean }) {
  return (
    <details class="fold">
      <summary>
        <Brain size={15} aria-hidden="true" />
        <span class={growing ? 'shimmer' : ''}>{growing ? 'Thinking…' : 'Thoughts'}</span>
      </summary>
      <Markdown text={text} growing={growing} />
    </details>
  );
}
