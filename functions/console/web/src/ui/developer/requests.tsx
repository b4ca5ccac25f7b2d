// What the agent of a turn was sent. It is read when somebody asks for it: it may be large.

import { useState } from 'preact/hooks';
import { readRequests } from '../../api/runs';
import type { SentRequest } from '../../api/types';
import { useApp } from '../context';
import { CopyButton } from '../kit/copy-button';
import { exact } from '../kit/time';
import { Data } from '../message/data';

export function Requests({ session, run }: { session: string; run: string }) {
  const { api } = useApp();
  const [sent, setSent] = useState<SentRequest[] | null>(null);
  const [state, setState] = useState<'' | 'reading' | 'failed'>('');
  const read = async () => {
    setState('reading');
    try {
      setSent(await readRequests(api, session, run));
      setState('');
    } catch {
      setState('failed');
    }
  };
  return (
    <section aria-label="Requests" aria-busy={state === 'reading'}>
      <h2>What the agent was sent</h2>
      {sent === null && (
        <button
          type="button"
          class="button small"
          disabled={state === 'reading'}
          onClick={() => void read()}
        >
          {state === 'failed' ? 'Try again' : 'Show'}
        </button>
      )}
      {state === 'failed' && <p role="alert">It could not be read.</p>}
      {sent?.length === 0 && <p class="hint">Nothing is kept of this run.</p>}
      {sent !== null && sent.length > 0 && (
        <ol class="events">
          {sent.map((request) => (
            <li key={`${request.continuation ?? 0} ${request.number}`}>
              <Sent request={request} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Sent({ request }: { request: SentRequest }) {
  const { method, path, body, size, cut, sent_time } = request;
  const [open, setOpen] = useState(false);
  return (
    <details
      class="fold event"
      data-testid="sent"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <code dir="auto">
          {method} {path}
        </code>
        <span class="preview">
          {size.toLocaleString('en')} bytes{cut && ', cut'}, {exact(sent_time)}
        </span>
      </summary>
      {open && (
        <>
          {cut && <p class="hint">Only the beginning of the body is kept.</p>}
          <Data label="Body" text={indented(body)} coloured />
          <CopyButton text={body} label="Copy body" />
        </>
      )}
    </details>
  );
}

// A body that was cut is no JSON.
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
