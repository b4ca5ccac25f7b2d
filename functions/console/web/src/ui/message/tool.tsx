// A tool call and its result, folded.

import { Wrench } from 'lucide-preact';
import type { ToolCall } from '../../store/message';

export function Tool({
  call,
  result,
  growing,
}: {
  call: ToolCall;
  result: unknown;
  growing: boolean;
}) {
  return (
    <details class="fold tool" data-testid="tool">
      <summary>
        <Wrench size={15} aria-hidden="true" />
        <span class={growing ? 'shimmer' : ''}>{call.name || 'Tool'}</span>
        <code class="preview">{call.args}</code>
      </summary>
      <p class="fold-label">Arguments</p>
      <pre>{pretty(call.args)}</pre>
      {result !== undefined && (
        <>
          <p class="fold-label">Result</p>
          <pre>{JSON.stringify(result, null, 2)}</pre>
        </>
      )}
    </details>
  );
}

// Incomplete arguments are not valid JSON.
function pretty(args: string): string {
  try {
    return JSON.stringify(JSON.parse(args), null, 2);
  } catch {
    return args;
  }
}
