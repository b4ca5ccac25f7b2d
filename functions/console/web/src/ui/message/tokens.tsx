// The tokens that an answer has used, where its agent tells.

import { type Usage, usageOf } from '../../store/usage';
import type { MessageProps } from './props';

export function Tokens({ chat, turn }: MessageProps) {
  if (turn.cut) return null; // the sum would be of a part
  // Also events that are not shown may tell; in rewound history those of the chat are others.
  const own = chat.items.peek().filter((event) => event.invocation_id === turn.invocation);
  const usage = usageOf(own.length > 0 ? own : turn.messages.map(({ event }) => event));
  if (!usage) return null;
  const [input, output] = [usage.input, usage.output].map((count) => count.toLocaleString());
  return (
    <span class="tokens" data-testid="tokens" title={details(usage)}>
      {input} in · {output} out<span class="hidden"> (tokens)</span>
    </span>
  );
}

function details({ input, output, cached, reasoning }: Usage): string {
  const part = (count: number, what: string) =>
    count > 0 ? `, ${count.toLocaleString()} of them ${what}` : '';
  return [
    `Tokens read: ${input.toLocaleString()}${part(cached, 'cached')}`,
    `Tokens written: ${output.toLocaleString()}${part(reasoning, 'thinking')}`,
  ].join('\n');
}
