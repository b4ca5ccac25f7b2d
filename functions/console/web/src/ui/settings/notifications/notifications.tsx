// The page about a chat's A2A notifications: which addresses are notified of which task.

import { useEffect, useMemo } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { A2ATasks } from '../../../store/a2a-tasks';
import { rightsOf } from '../../../store/rights';
import { useApp } from '../../context';
import { addressOf } from '../../history/address';
import { Shown, useLoaded } from '../loaded';
import { Section } from '../section';
import { ShowMore } from '../show-more';
import { notificationsPath } from './address';
import { TaskItem } from './task';

export function Notifications({ session: id }: { session: string }) {
  const { api, agents } = useApp();
  const page = useLoaded(`notifications of ${id}`, async () => {
    const [session] = await Promise.all([api.sessions.get(id), agents.load()]);
    return session;
  });
  return (
    <Section title="Notifications of other servers" back={{ href: addressOf(id), label: 'Chat' }}>
      <p class="hint">
        Answers that were asked for over the Agent2Agent protocol notify servers of their progress,
        those that their client has named and those that you add here. All end with the chat.
      </p>
      <Shown of={page}>
        {(session) =>
          rightsOf(session).own ? (
            <OfAgent session={id} agent={session.agent} />
          ) : (
            <p>Only the owner of a chat can have others notified of it.</p>
          )
        }
      </Shown>
    </Section>
  );
}

function OfAgent({ session, agent: own }: { session: string; agent: string }) {
  const { agents } = useApp();
  const [params] = useSearchParams();
  const [, navigate] = useLocation();
  const names = agents.names.value;
  const agent = agents.answering(params.get('agent') ?? own) || (names[0] ?? '');
  if (!agent) return <p>No agent is configured.</p>;
  return (
    <>
      {names.length > 1 && (
        <label class="labelled">
          <span>Agent</span>
          <select
            class="field"
            value={agent}
            onChange={({ currentTarget: { value } }) =>
              navigate(notificationsPath(session, value), { replace: true })
            }
          >
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <Tasks key={agent} session={session} agent={agent} />
    </>
  );
}

function Tasks({ session, agent }: { session: string; agent: string }) {
  const { api } = useApp();
  const tasks = useMemo(() => new A2ATasks(api, agent, session), [api, agent, session]);
  useEffect(() => tasks.start(), [tasks]);
  const { list, loaded, loading, failed, more } = tasks;
  return (
    <>
      {failed.value && (
        <div class="notice" role="alert">
          <p>{failed.value}</p>
          <button type="button" class="button small" onClick={() => void tasks.refresh()}>
            Try again
          </button>
        </div>
      )}
      {!loaded.value && loading.value && (
        <p class="hint" role="status">
          Loading…
        </p>
      )}
      {loaded.value && list.value.length === 0 && !more.value && (
        <p>Nothing was asked of this agent over A2A in this chat.</p>
      )}
      {list.value.map((task) => (
        <TaskItem key={task.id} session={session} agent={agent} task={task} />
      ))}
      <ShowMore list={tasks} />
    </>
  );
}
