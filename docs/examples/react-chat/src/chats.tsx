// The list of sessions, and the chosen one. The address has its id, so that a reload keeps it.

import { type FormEvent, useState, useSyncExternalStore } from 'react';
import { type ThreadItem, useSessions, useThread, useTree } from 'rethread/react';

export function Chats() {
  const { sessions, create } = useSessions();
  const id = useSyncExternalStore(onHashChange, () => location.hash.slice(1));
  return (
    <>
      <nav>
        <button type="button" onClick={() => create({ name: 'Chat' }).then((s) => open(s.id))}>New chat</button>
        {sessions.map(({ id, name }) => (
          <button type="button" key={id} onClick={() => open(id)}>{name}</button>
        ))}
      </nav>
      {id && <Chat key={id} id={id} />}
    </>
  );
}

function Chat({ id }: { id: string }) {
  const { items, status, queued, connection, ended, send, stop, rewind, fork } = useThread(id);
  const { alternatives } = useTree(id);
  const [draft, setDraft] = useState('');
  const [problem, setProblem] = useState('');
  const attempt = (action: Promise<unknown>) =>
    action.then(() => setProblem(''), (error: unknown) => setProblem(String(error)));

  function submit(event: FormEvent) {
    event.preventDefault();
    setDraft('');
    void attempt(send(draft));
  }

  if (ended) return <p role="alert">{ended.message}</p>;
  return (
    <section data-status={status} data-connection={connection.state}>
      {items.map((item) => (
        <article key={item.id} data-author={item.author}>
          <p>{textOf(item)}</p>
          {item.author === 'user' && !item.pending && (
            <>
              <button type="button" onClick={() => attempt(rewind(item.invocation_id).then(() => setDraft(textOf(item))))}>
                Rewind
              </button>
              <button type="button" onClick={() => attempt(fork(item.invocation_id).then((s) => open(s.id)))}>Fork</button>
              {alternatives(item).map((branch, i) => (
                <button type="button" key={branch.id} disabled={branch.id === id} onClick={() => open(branch.id)}>
                  Branch {i + 1}
                </button>
              ))}
            </>
          )}
        </article>
      ))}
      {queued.map(({ run_id, queued_time }) => <p key={run_id || queued_time}>Waiting</p>)}
      <form onSubmit={submit}>
        <input aria-label="Message" value={draft} onChange={({ target }) => setDraft(target.value)} />
        <button type="submit">Send</button>
        {status === 'in_progress' && <button type="button" onClick={() => attempt(stop())}>Stop</button>}
      </form>
      {problem && <p role="alert">{problem}</p>}
    </section>
  );
}

const textOf = ({ content }: ThreadItem): string => content?.parts?.map(({ text }) => text ?? '').join('') ?? '';

function open(id: string): void {
  location.hash = id;
}

function onHashChange(changed: () => void): () => void {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}
