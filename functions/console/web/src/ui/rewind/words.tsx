// The texts for a rewind.

import type { ComponentType } from 'preact';
import type { RewindTarget } from '../../store/rewind';
import type { RewindEffect } from '../../store/rewind-effect';
import { exact } from '../kit/time';

interface Words {
  title: string;
  submit: string;
  /** Where the chat goes. */
  Lead: ComponentType<RewindTarget>;
}

export function wordsFor({ kind, from }: RewindTarget): Words {
  if (kind === 'undo') return { title: 'Undo this rewind?', submit: 'Undo the rewind', Lead: Undo };
  const submit = kind === 'rewind' ? 'Rewind' : 'Return';
  return from === 'question'
    ? { title: `${submit} to before this question?`, submit, Lead: BeforeQuestion }
    : { title: `${submit} to this answer?`, submit, Lead: ToAnswer };
}

const BeforeQuestion = ({ kind, text }: RewindTarget) => (
  <>
    The chat goes back to just before <Quoted text={text} otherwise="this question" />
    {kind === 'return' && ', with the messages that preceded it then'}. The question is put into the
    message field, to be changed and sent.
  </>
);

const ToAnswer = ({ kind, text }: RewindTarget) => (
  <>
    The chat {kind === 'return' ? 'is restored up to' : 'goes back to'}{' '}
    <Quoted text={text} otherwise="this answer" />, which stays, and continues from there.
  </>
);

const Undo = ({ time }: RewindTarget) => (
  <>The chat is restored to its state before the rewind at {exact(time)}.</>
);

/** How many messages are hidden and restored. */
export function effectText({ hides, returns }: RewindEffect): string {
  const hidden = hides > 0 && `${messages(hides)} will be hidden`;
  const back = returns > 0 && `${messages(returns)} will be restored`;
  if (hidden && back) return `${back}, and ${hidden}.`;
  return hidden || back ? `${hidden || back}.` : 'No messages change.';
}

const messages = (count: number): string => (count === 1 ? '1 message' : `${count} messages`);

const LONGEST = 60; // characters of a quoted text

/** A text in quotes, on one line, shortened if necessary. */
export function Quoted({ text, otherwise }: { text: string; otherwise: string }) {
  const line = text.trim().replace(/\s+/g, ' ');
  if (line === '') return <>{otherwise}</>;
  const letters = Array.from(line);
  const short = letters.length > LONGEST ? `${letters.slice(0, LONGEST).join('')}…` : line;
  return (
    <>
      “<bdi>{short}</bdi>”
    </>
  );
}
