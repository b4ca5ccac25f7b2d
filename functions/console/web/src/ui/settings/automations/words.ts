// Automations in words.

import type { Automation } from 'rethread';
import { agentName } from '../../../store/agents';
import { eventWords } from '../event-words';
import type { Mark } from '../webhooks/words';

/** The values of an event that the question may have in double braces. */
export const PLACEHOLDERS: Readonly<Record<string, string>> = {
  type: 'the type of the event',
  event_id: 'its id',
  time: 'when it happened',
  session_id: 'the chat',
  agent: 'the agent of the chat or of the run',
  run_id: 'the run, of an event about an answer',
  task_id: 'the task, of tasks and feedback',
  artifact: 'the name of the file',
  version: 'the version of the file',
  feedback: 'up or down',
  error: 'the code of a failure',
  source_session_id: 'the chat that was forked',
  rewind_before_invocation_id: 'where a chat was rewound or forked',
};

export function markOf({ status, disabled_reason: why }: Automation): Mark {
  if (status === 'active') return { text: 'Active', kind: 'good' };
  return why === 'runaway' ? { text: 'Disabled', kind: 'bad' } : { text: 'Stopped', kind: '' };
}

export const whyDisabled = ({ disabled_reason: why }: Automation): string =>
  why === 'runaway'
    ? 'It was disabled because it began more than 60 answers within 10 minutes.'
    : 'You have stopped it.';

/** When it acts, and what it does. */
export function ruleWords({ on, do: action }: Automation): string {
  const where = action.session === 'new' ? ' in a new chat' : '';
  const feedback = on.feedback_types?.length === 1 ? ` (${on.feedback_types[0]})` : '';
  const when = on.types.map(eventWords).join(', or: ');
  return `${when}${feedback} → asks ${agentName(action.agent)}${where}`;
}
