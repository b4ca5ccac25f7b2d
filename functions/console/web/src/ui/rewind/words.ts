// The texts for a rewind.

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
        lead: `The chat goes back to just before ${quoted(question)}, with the messages that preceded it then.`,
      };
    case 'upTo':
      return {
        title: 'Return to this answer?',
        submit: 'Return',
        lead: 'The chat is restored up to this answer and continues from there.',
      };
    case 'undo':
      return {
        title: 'Undo this rewind?',
        submit: 'Undo the rewind',
        lead: `The chat is restored to its state before the rewind at ${exact(time)}.`,
      };
  }
}

/** How many messages are hidden and restored. */
export function effectText({ hides, returns }: RewindEffect): string {
  const hidden = hides > 0 && `${messages(hides)} will be hidden`;
  const back = returns > 0 && `${messages(returns)} will be restored`;
  if (hidden && back) return `${back}, and ${hidden}.`;
  return hidden || back ? `${hidden || back}.` : 'No messages change.';
}

const messages = (count: number): string => (count === 1 ? '1 message' : `${count} messages`);

const LONGEST = 60; // characters of a question

/** A question in quotes, shortened if necessary. */
export function quoted(question: string): string {
  const line = question.trim().replace(/\s+/g, ' ');
  if (line === '') return 'this question';
  const letters = Array.from(line);
  return `“${letters.length > LONGEST ? `${letters.slice(0, LONGEST).join('')}…` : line}”`;
}
