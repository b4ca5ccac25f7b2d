// Tool calls and their results, folded; several in a row as a group with the time they took. Of a
// folded group the calls that failed are shown, and say why.

import { TriangleAlert, Wrench } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { failuresIn, timeOf } from '../../store/call-times';
import { type CallBlock, failureOf, type ToolCall } from '../../store/message';
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
  const [open, setOpen] = useState(false);
  const shown = (block: CallBlock) =>
    open || calls.length === 1 || failureOf(block.result) !== null;
  const tools = calls.map((call, i) =>
    shown(call) ? (
      // Calls are only added at the end
      <Tool key={i} {...call} growing={growing && i === calls.length - 1} />
    ) : null,
  );
  if (calls.length === 1) return tools[0];
  return (
    <div class="calls" data-testid="calls" dir="ltr">
      <details
        class="fold"
        open={open}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>
          <Wrench size={15} aria-hidden="true" />
          <span class={growing ? 'shimmer' : ''}>{calls.length} tool calls</span>
          {failures > 0 && <b class="failures">{failures} failed</b>}
          <code class="preview">{namesOf(calls)}</code>
          <Time of={calls} />
        </summary>
      </details>
      {(open || failures > 0) && <div class="calls-list">{tools}</div>}
    </div>
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
        <span class={growing ? 'shimmer' : ''}>{nameOf(call)}</span>
        {failed && <b>failed</b>}
        <code class="preview">{failure ?? (call.name in ASKS ? '' : call.args)}</code>
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

// Calls that ask the person, who is not told the names of protocols.
const ASKS: Record<string, string> = {
  adk_request_confirmation: 'Approval',
  adk_request_credential: 'Sign-in',
  ag_ui_interrupt: 'Question',
};

const nameOf = ({ name }: ToolCall): string => ASKS[name] ?? (name || 'Tool');

const namesOf = (calls: readonly CallBlock[]): string =>
  [...new Set(calls.map(({ call }) => nameOf(call)))].join(', ');

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
