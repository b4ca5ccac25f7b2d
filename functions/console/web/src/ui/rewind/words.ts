// A rewind in words.

import type { RewindTarget } from '../../store/rewind';
import type { RewindEffect } from '../../store/rewind-effect';
import { exact } from '../kit/time';

interface Words {
  title: string;
  submit: string;
  lead: string;
}

export function wordsFor({ kind, question, time }: RewindTarget): Words {
  switch (kind) {
    case 'rewind':
      return {
        title: 'Rewind to here?',
        submit: 'Rewind',
        lead: `The chat goes back to just before ${quoted(question)}.`,
      };
    case 'before':
      return {
        title: 'Return to before this question?',
        submit: 'Return',
        lead: `The chat goes back to just before ${quoted(question)}, and what stood above it then is shown again.`,
      };
    case 'upTo':
      return {
        title: 'Return to this answer?',
        submit: 'Return',
        lead: 'The chat is shown again up to this answer, and goes on from there.',
      };
    case 'undo':
      return {
        title: 'Undo this rewind?',
        submit: 'Undo the rewind',
        lead: `The chat is shown again as it was before it was rewound at ${exact(time)}.`,
      };
  }
}

/** How many messages go and come. */
export function effectText({ hides, returns }: RewindEffect): string {
  const hidden = hides > 0 && `${messages(hides)} will be hidden`;
  const back = returns > 0 && `${messages(returns)} will come back`;
  if (hidden && back) return `${back}, and ${hidden}.`;
  return hidden || back ? `${hidden || back}.` : 'No message goes or comes back.';
}

const messages = (count: number): string => (count === 1 ? '1 message' : `${count} messages`);

const LONGEST = 60; // characters of a question

/** A question, or as much of it as names it. */
export function quoted(question: string): string {
  const line = question.trim().replace(/\s+/g, ' ');
  if (line === '') return 'this question';
  const letters = Array.from(line);
  return `“${letters.length > LONGEST ? `${letters.slice(0, LONGEST).join('')}…` : line}”`;
}
