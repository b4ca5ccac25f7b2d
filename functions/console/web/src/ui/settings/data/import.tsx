// Imports files.

import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Data } from '../../../store/data/data';
import type { Importing } from '../../../store/data/import';
import { sizeOf } from '../../artifact/kind';
import { useApp } from '../../context';
import { useBusy } from '../../kit/busy';

export function Import({ data }: { data: Data }) {
  const input = useRef<HTMLInputElement>(null);
  const [copy, setCopy] = useState(false);
  const list = data.imports.value;
  return (
    <section class="group" aria-labelledby="import">
      <h3 id="import">Import</h3>
      <p class="hint">
        Files that were exported here, lists of tasks, or chats of google-adk. The chats belong to
        you, and keep their ids.
      </p>
      <label class="choice">
        <input
          type="checkbox"
          checked={copy}
          onChange={({ currentTarget }) => setCopy(currentTarget.checked)}
        />
        <span>As copies, with new ids</span>
      </label>
      <div class="settings-actions">
        <button type="button" class="button" onClick={() => input.current?.click()}>
          Choose files…
        </button>
        <input
          ref={input}
          type="file"
          accept=".json,application/json"
          multiple
          hidden
          aria-label="Files to import"
          onChange={({ currentTarget }) => {
            data.import(currentTarget.files ?? [], copy);
            currentTarget.value = ''; // allows choosing the same file again
          }}
        />
      </div>
      {list.length > 0 && (
        <ul class="rows">
          {list.map((one) => (
            <li key={one.number} class="row" data-testid="import">
              <Item data={data} one={one} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const STATES = {
  waiting: 'Waits',
  running: 'Importing…',
  failed: 'Failed',
  done: 'Imported',
  cancelled: 'Cancelled',
};

function Item({ data, one }: { data: Data; one: Importing }) {
  const { toasts } = useApp();
  const [, run] = useBusy(toasts);
  const state = one.state.value;
  const kind = { done: 'good', failed: 'bad' }[state as string] ?? '';
  const session = one.session.value;
  return (
    <>
      <span class="row-title" dir="auto">
        {one.file.name}
      </span>
      <span class={`state-mark ${kind}`} role="status">
        {STATES[state]}
      </span>
      {state === 'running' && (
        <progress
          class="row-more"
          aria-label={`Import of ${one.file.name}`}
          max={one.file.size}
          value={one.sent.value || undefined}
        />
      )}
      {state === 'failed' && (
        <p class="row-more complaint" role="alert">
          {one.failed.value} {one.taken.value ? '' : 'Nothing of it is visible yet.'}
        </p>
      )}
      {session && (
        <p class="row-more">
          <Link href={`/s/${encodeURIComponent(session.id)}`}>{session.name || 'Untitled'}</Link>,{' '}
          {sizeOf(one.file.size)}
          {one.kept.value.length > 0 && (
            <>. These existed with other contents, and were kept: {one.kept.value.join(', ')}</>
          )}
        </p>
      )}
      <div class="row-more settings-actions">
        {state === 'failed' && (
          <button
            type="button"
            class="button small"
            onClick={() => data.queue(one, () => (one.taken.value ? one.copy() : one.run()))}
          >
            {one.taken.value ? 'Import as a copy' : 'Try again'}
          </button>
        )}
        {(state === 'failed' || state === 'running' || state === 'waiting') && (
          <button type="button" class="button small" onClick={() => run(() => one.cancel())}>
            Cancel
          </button>
        )}
        {(state === 'done' || state === 'cancelled') && (
          <button type="button" class="button small" onClick={() => data.forget(one)}>
            Dismiss
          </button>
        )}
      </div>
    </>
  );
}
