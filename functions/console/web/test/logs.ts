// A short notation for logs: a word is a turn of that invocation, <x is a rewind to before the
// invocation x, whose own invocation is the word itself.

import type { Event } from '../src/api/types';
import { event } from './fakes';

export function log(text: string, from = 1): Event[] {
  return text.split(' ').map((word, i) => {
    const common = { seq: from + i, created_time: from + i };
    if (!word.startsWith('<')) return event(word, { ...common, text: `Question ${word}` });
    const actions = { rewind_before_invocation_id: word.slice(1) };
    return event(word, { ...common, author: 'system', text: 'Session rewound', actions });
  });
}
