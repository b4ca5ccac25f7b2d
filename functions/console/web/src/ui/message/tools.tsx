// Tool calls and their results, folded; several in a row as a group with the time they took. A
// failure is told without unfolding it.

import { TriangleAlert, Wrench } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { failuresIn, timeOf } from '../../store/call-times';
import { type CallBlock, failureOf } from '../../store/message';
import { duration } from '../kit/time';
import { Data } from './data';
import '../../styles/tools.css';

interface ToolsProps {
  calls: readonly CallBlock[];
  /** Whether the last call is still being written. */
  growing: boolean;
}

export function Tools({ calls, growing }: ToolsProps) {
  const failures = failuresIn(calls);
  const [chosen, setChosen] = useState<boolean | null>(null);
  const tools = calls.map((call, i) => (
    // Calls are only added at the end
    <Tool key={i} {...call} growing={growing && i === calls.length - 1} />
  ));
  if (calls.length === 1) return tools[0];
  return (
    <details
      class="fold calls"
      data-testid="calls"
      dir="ltr"
      open={chosen ?? failures > 0}
      onToggle={({ currentTarget }) => setChosen(currentTarget.open)}
    >
      <summary>
        <Wrench size={15} aria-hidden="true" />
        <span class={growing ? 'shimmer' : ''}>{calls.length} tool calls</span>
        {failures > 0 && <b class="failures">{failures} failed</b>}
        <code class="preview">{namesOf(calls)}</code>
        <Time of={calls} />
      </summary>
      <div class="calls-list">{tools}</div>
    </details>
  );
}

function Tool({ growing, ...block }: CallBlock & { growing: boolean }) {
  const { call, result } = block;
  const [open, setOpen] = useState(false);
  const failure = failureOf(result);
  const failed = failure !== null;
  const Icon = failed ? TriangleAlert : Wrench;
  return (
    <details
      class="fold tool"
      data-testid="tool"
      data-failed={failed}
      dir="ltr"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <Icon size={15} aria-hidden="true" />
        <span class={growing ? 'shimmer' : ''}>{call.name || 'Tool'}</span>
        {failed && <b>failed</b>}
        <code class="preview">{failure ?? call.args}</code>
        <Time of={[block]} />
      </summary>
      <Data label="Arguments" text={pretty(call.args)} coloured={open} />
      {result !== undefined && (
        <Data label={failed ? 'Error' : 'Result'} text={textOfResult(result)} coloured={open} />
      )}
    </details>
  );
}

function Time({ of }: { of: readonly CallBlock[] }) {
  const time = timeOf(of);
  return time === null ? null : <small>{duration(time)}</small>;
}

const namesOf = (calls: readonly CallBlock[]): string =>
  [...new Set(calls.map(({ call }) => call.name || 'Tool'))].join(', ');

// Incomplete arguments are not valid JSON.
function pretty(args: string): string {
  try {
    return JSON.stringify(JSON.parse(args), null, 2);
  } catch {
    return args;
  }
}

const textOfResult = (result: unknown): string =>
  typeof result === 'string' ? result : JSON.stringify(result, null, 2);
