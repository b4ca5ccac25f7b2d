// A tool call and its result, folded. A failure is told without unfolding it.

import { TriangleAlert, Wrench } from 'lucide-preact';
import { failureOf, type ToolCall } from '../../store/message';

interface Props {
  call: ToolCall;
  result: unknown;
  growing: boolean;
}

export function Tool({ call, result, growing }: Props) {
  const failure = failureOf(result);
  const failed = failure !== null;
  return (
    <details class="fold tool" data-testid="tool" data-failed={failed} dir="ltr">
      <summary>
        {failed ? (
          <TriangleAlert size={15} aria-hidden="true" />
        ) : (
          <Wrench size={15} aria-hidden="true" />
        )}
        <span class={growing ? 'shimmer' : ''}>{call.name || 'Tool'}</span>
        {failed && <b>failed</b>}
        <code class="preview">{failure ?? call.args}</code>
      </summary>
      <p class="fold-label">Arguments</p>
      <pre>{pretty(call.args)}</pre>
      {result !== undefined && (
        <>
          <p class="fold-label">{failed ? 'Error' : 'Result'}</p>
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
