// The section "Automations": all automations of the user.

import { Plus } from 'lucide-preact';
import type { Automation } from 'rethread';
import { Link } from 'wouter-preact';
import { useApp } from '../../context';
import { Shown, useLoaded } from '../loaded';
import { Section } from '../section';
import { markOf, ruleWords } from './words';

const MOST = 20; // automations of a user, the API's limit

export function Automations() {
  const { api } = useApp();
  const automations = useLoaded('automations', () => api.automations.list({ limit: 100 }).all());
  const full = (automations.value.value?.length ?? 0) >= MOST;
  return (
    <Section
      title="Automations"
      actions={
        !full && (
          <Link href="/settings/automations/new" class="button primary small">
            <Plus size={15} aria-hidden="true" />
            New automation
          </Link>
        )
      }
    >
      <p class="hint">
        An automation asks an agent when something happens in your chats.
        {full && ` ${MOST} automations are the most that a user can have.`}
      </p>
      <Shown of={automations}>
        {(list) =>
          list.length === 0 ? (
            <p>There are no automations yet.</p>
          ) : (
            <ul class="rows">
              {list.map((automation) => (
                <li key={automation.id}>
                  <Row automation={automation} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Section>
  );
}

function Row({ automation }: { automation: Automation }) {
  const { text, kind } = markOf(automation);
  return (
    <Link href={`/settings/automations/${automation.id}`} class="row">
      <span class="row-title" dir="auto">
        {automation.name || 'Untitled'}
      </span>
      <span class={`state-mark ${kind}`}>{text}</span>
      <span class="row-more">{ruleWords(automation)}</span>
    </Link>
  );
}
