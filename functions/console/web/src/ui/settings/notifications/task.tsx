// One A2A task: what was asked, and the addresses that are notified of it.

import { useId } from 'preact/hooks';
import { Link } from 'wouter-preact';
import {
  type A2ATask,
  listNotified,
  type Notified,
  removeNotified,
} from '../../../api/notifications';
import { useApp, useView } from '../../context';
import { addressOf } from '../../history/address';
import { Confirm } from '../../kit/confirm';
import { exact } from '../../kit/time';
import { Shown, useLoaded } from '../loaded';
import { newNotificationPath } from './address';
import { isOver, stateMark } from './words';
import './notifications.css';

const MOST = 10; // addresses of a task, the API's limit
const LONGEST_TITLE = 120; // characters

interface Props {
  session: string;
  agent: string;
  task: A2ATask;
}

export function TaskItem({ session, agent, task }: Props) {
  const { api } = useApp();
  const title = useId();
  const { text, kind } = stateMark(task);
  const topic = `notifications ${agent} ${task.id}`;
  const notified = useLoaded(topic, () => listNotified(api, agent, task.id));
  return (
    <section class="group" aria-labelledby={title} data-testid="a2a-task">
      <div class="settings-head">
        <h3 id={title} dir="auto">
          {Array.from(task.question).slice(0, LONGEST_TITLE).join('') || 'A task'}
        </h3>
        <span class={`state-mark ${kind}`}>{text}</span>
      </div>
      <p class="hint">
        {task.time !== null && `${exact(task.time)} · `}
        <Link href={addressOf(session, { at: task.id })}>Show it in the chat</Link>
        {isOver(task) && '. It is over: nothing more is sent.'}
      </p>
      <Shown of={notified}>
        {(list) => (
          <>
            {list.length === 0 && <p class="hint">No server is notified.</p>}
            {list.length > 0 && (
              <ul class="rows">
                {list.map((one) => (
                  <li key={one.id} data-testid="notified">
                    <Row
                      notified={one}
                      remove={async () => {
                        await removeNotified(api, agent, task.id, one.id);
                        notified.changed();
                      }}
                    />
                  </li>
                ))}
              </ul>
            )}
            {list.length < MOST ? (
              <Link href={newNotificationPath(session, agent, task.id)} class="button small">
                Notify a server
              </Link>
            ) : (
              <p class="hint">{MOST} addresses are the most that a task can have.</p>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}

function Row({ notified, remove }: { notified: Notified; remove: () => Promise<void> }) {
  const { toasts } = useApp();
  const { dialog } = useView();
  const { url, token, scheme } = notified;
  const run = async () => {
    await remove();
    toasts.say('The server is no longer notified.');
  };
  return (
    <div class="row">
      <span class="row-title">{url}</span>
      <button
        type="button"
        class="button small row-action"
        onClick={() => {
          dialog.value = (
            <Confirm title="Remove address?" action="Remove" run={run}>
              <p>
                Nothing more of this task is sent to <b>{url}</b>.
              </p>
            </Confirm>
          );
        }}
      >
        Remove
      </button>
      <span class="row-more">
        {scheme ? `Signs in with ${scheme}` : 'Signed by this server'}
        {token && (
          <>
            {' · '}token <code>{token}</code>
          </>
        )}
      </span>
    </div>
  );
}
