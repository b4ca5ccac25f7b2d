// The list of sessions, and the chosen one. The address has its id, so that a reload keeps it.

import { type FormEvent, useRef, useState, useSyncExternalStore } from 'react';
import { type ThreadItem, useSessions, useThread, useTree } from 'rethread/react';

export function Chats() {
  const { sessions, create } = useSessions();
  const chosen = useSyncExternalStore(onHashChange, () => location.hash.slice(1));
  return (
    <>
      <nav>
        <button type="button" onClick={() => create({ name: 'Chat' }).then((s) => open(s.id))}>New chat</button>
        {sessions.map(({ id, name }) => (
          <button type="button" key={id} aria-current={id === chosen} onClick={() => open(id)}>{name}</button>
        ))}
      </nav>
      {chosen && <Chat key={chosen} id={chosen} />}
    </>
  );
}

function Chat({ id }: { id: string }) {
  const { items, status, error, queued, connection, ended, has_older, ...thread } = useThread(id);
  const { alternatives } = useTree(id);
  const [draft, setDraft] = useState('');
  const [problem, setProblem] = useState('');
  const log = useRef<HTMLDivElement>(null);
  const attempt = (action: Promise<unknown>) =>
    action.then(() => setProblem(''), (error: unknown) => setProblem(String(error)));

  function submit(event: FormEvent) {
    event.preventDefault();
    setDraft('');
    log.current?.scrollTo(0, 0); // the end
    void attempt(thread.send(draft).catch((error: unknown) => {
      setDraft((newer) => newer || draft);
      throw error;
    }));
  }

  if (ended) return <p role="alert">{ended.message}</p>;
  return (
    <section data-status={status} data-connection={connection.state}>
      <div className="log" ref={log}>
        <div>
          {has_older && <button type="button" onClick={() => attempt(thread.older())}>Earlier messages</button>}
          {items.map((item) => (
            <article key={item.id} data-author={item.author}>
              <b>{item.author === 'user' ? 'You' : item.author}</b>
              <Said by={item} />
              {item.author === 'user' && !item.pending && (
                <div>
                  <button type="button" onClick={() => attempt(thread.rewind(item.invocation_id).then(() => setDraft(textOf(item))))}>
                    Rewind
                  </button>
                  <button type="button" onClick={() => attempt(thread.fork(item.invocation_id).then((s) => open(s.id)))}>Fork</button>
                  {alternatives(item).map((branch, i) => (
                    <button type="button" key={branch.id} disabled={branch.id === id} onClick={() => open(branch.id)}>
                      Branch {i + 1}
                    </button>
                  ))}
                </div>
              )}
            </article>
          ))}
          {queued.map(({ run_id, queued_time, input }) => (
            <article key={run_id || queued_time} data-author="user" className="waiting">
              <b>Waiting</b>
              <p>{input?.map((event) => textOf(event)).join('\n')}</p>
            </article>
          ))}
        </div>
      </div>
      {(problem || error) && <p role="alert">{problem || error?.message}</p>}
      <form onSubmit={submit}>
        <input aria-label="Message" placeholder="Message" value={draft} onChange={({ target }) => setDraft(target.value)} required />
        <button type="submit">Send</button>
        {status === 'in_progress' && <button type="button" onClick={() => attempt(thread.stop())}>Stop</button>}
      </form>
    </section>
  );
}

/** What an item says: its thoughts, which fold when the answer begins, the answer, and how it ended. */
function Said({ by }: { by: ThreadItem }) {
  const [text, thoughts] = [textOf(by), textOf(by, true)];
  const { code } = (by.error ?? {}) as { code?: string };
  return (
    <>
      {thoughts && <details open={!text}><summary>Thoughts</summary>{thoughts}</details>}
      <p>{text}</p>
      {by.status === 'failed' && <small>{code === 'cancelled' ? 'Stopped' : 'Failed'}</small>}
    </>
  );
}

const textOf = ({ content }: Pick<ThreadItem, 'content'>, thought = false): string =>
  content?.parts?.map((part) => (part.thought === true) === thought ? (part.text ?? '') : '').join('') ?? '';

function open(id: string): void {
  location.hash = id;
}

function onHashChange(changed: () => void): () => void {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}
