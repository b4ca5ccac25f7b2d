// The states of A2A tasks in words.

import type { A2ATask } from '../../../api/notifications';
import type { Mark } from '../webhooks/words';

const STATES: Record<string, Mark & { over?: true }> = {
  submitted: { text: 'Waits', kind: '' },
  working: { text: 'In progress', kind: '' },
  input_required: { text: 'Asks a question', kind: '' },
  completed: { text: 'Complete', kind: 'good', over: true },
  failed: { text: 'Failed', kind: 'bad', over: true },
  rejected: { text: 'Rejected', kind: 'bad', over: true },
  canceled: { text: 'Stopped', kind: '', over: true },
};

export const stateMark = ({ state }: A2ATask): Mark => STATES[state] ?? { text: state, kind: '' };

/** Whether a task goes on no more. */
export const isOver = ({ state }: A2ATask): boolean => STATES[state]?.over === true;
