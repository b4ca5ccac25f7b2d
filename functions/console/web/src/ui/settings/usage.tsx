// The section "Usage": what the user has of each quota.

import type { Usage as Quotas } from 'rethread';
import { sizeOf } from '../artifact/kind';
import { useApp } from '../context';
import { Shown, useLoaded } from './loaded';
import { Section } from './section';

type Quota = Quotas['sessions'];

const number = (value: number): string => value.toLocaleString();

const QUOTAS = [
  {
    name: 'sessions',
    title: 'Chats',
    hint: 'All chats that you own, forks included.',
    text: number,
  },
  {
    name: 'runs',
    title: 'Answers in progress',
    hint: 'Answers that are being written at the moment, in all chats.',
    text: number,
  },
  {
    name: 'bytes',
    title: 'Storage',
    hint: 'Messages, tasks and files. It is counted only where there is a limit.',
    text: sizeOf,
  },
  {
    name: 'streams',
    title: 'Open connections',
    hint: 'Programs that receive answers as they are written. They are counted only where there is a limit.',
    text: number,
  },
] as const;

export function Usage() {
  const { api } = useApp();
  const usage = useLoaded('usage', () => api.me.usage());
  return (
    <Section
      title="Usage"
      actions={
        <button
          type="button"
          class="button small"
          aria-busy={usage.loading.value}
          onClick={() => void usage.reload()}
        >
          Refresh
        </button>
      }
    >
      <Shown of={usage}>
        {(quotas) => (
          <ul class="quotas">
            {QUOTAS.map(({ name, ...words }) => (
              <QuotaItem key={name} quota={quotas[name]} {...words} />
            ))}
          </ul>
        )}
      </Shown>
    </Section>
  );
}

interface ItemProps {
  quota: Quota;
  title: string;
  hint: string;
  text: (value: number) => string;
}

function QuotaItem({ quota: { used, limit }, title, hint, text }: ItemProps) {
  const full = limit !== null && used >= limit;
  const words = limit === null ? `${text(used)}, no limit` : `${text(used)} of ${text(limit)}`;
  return (
    <li class="quota">
      <h3>{title}</h3>
      <p class="quota-words">{words}</p>
      {limit !== null && (
        <meter
          aria-label={title}
          min={0}
          max={limit}
          high={limit * 0.8}
          optimum={0}
          value={Math.min(used, limit)}
        >
          {words}
        </meter>
      )}
      {full && <p class="complaint">The limit is reached. More is refused until there is room.</p>}
      <p class="hint">{hint}</p>
    </li>
  );
}
