// One automation: what it does, whether it is active, and its last runs.

import type { Automation as Rule } from 'rethread';
import { Link, useLocation } from 'wouter-preact';
import type { Loaded } from '../../../store/loaded';
import { useApp, useView } from '../../context';
import { useBusy } from '../../kit/busy';
import { Confirm } from '../../kit/confirm';
import { exact } from '../../kit/time';
import { Shown, useLoaded } from '../loaded';
import { Section } from '../section';
import { LastRuns } from './runs';
import { markOf, ruleWords, whyDisabled } from './words';

export function Automation({ id }: { id: string }) {
  const { api } = useApp();
  const automation = useLoaded(`automation ${id}`, () => api.automations.get(id));
  return (
    <Section
      title={automation.value.value?.name || 'Automation'}
      back={{ href: '/settings/automations', label: 'Automations' }}
    >
      <Shown of={automation}>
        {(rule) => (
          <>
            <State rule={rule} of={automation} />
            <Facts rule={rule} />
            <LastRuns runs={rule.last_runs ?? []} />
          </>
        )}
      </Shown>
    </Section>
  );
}

function State({ rule, of: loaded }: { rule: Rule; of: Loaded<Rule> }) {
  const { api, toasts } = useApp();
  const { dialog } = useView();
  const [, navigate] = useLocation();
  const [busy, run] = useBusy(toasts);
  const active = rule.status === 'active';
  const mark = markOf(rule);
  const set = async (status: Rule['status']) => {
    await api.automations.update(rule.id, { status });
    loaded.changed();
  };
  const remove = async () => {
    await api.automations.delete(rule.id);
    toasts.say('The automation was deleted.');
    navigate('/settings/automations');
  };
  return (
    <>
      <div class="settings-actions">
        <span class={`state-mark ${mark.kind}`}>{mark.text}</span>
        {!active && <p class="hint">{whyDisabled(rule)}</p>}
      </div>
      <div class="settings-actions">
        <button
          type="button"
          class="button small"
          disabled={busy}
          onClick={() => run(() => set(active ? 'disabled' : 'active'))}
        >
          {active ? 'Stop' : 'Start'}
        </button>
        <Link href={`/settings/automations/${rule.id}/edit`} class="button small">
          Edit
        </Link>
        <button
          type="button"
          class="button small"
          onClick={() => {
            dialog.value = (
              <Confirm title="Delete automation?" action="Delete" run={remove}>
                <p>
                  Events that wait for it are dropped. Answers that it has begun continue. This
                  cannot be undone.
                </p>
              </Confirm>
            );
          }}
        >
          Delete
        </button>
      </div>
    </>
  );
}

function Facts({ rule }: { rule: Rule }) {
  const { on } = rule;
  return (
    <dl class="facts">
      <dt>Rule</dt>
      <dd>{ruleWords(rule)}</dd>
      {(on.agents?.length ?? 0) > 0 && (
        <>
          <dt>Agents</dt>
          <dd>{on.agents?.join(', ')}</dd>
        </>
      )}
      {(on.session_ids?.length ?? 0) > 0 && (
        <>
          <dt>Chats</dt>
          <dd>{on.session_ids?.join(', ')}</dd>
        </>
      )}
      <dt>Question</dt>
      <dd class="question" dir="auto">
        {rule.do.input}
      </dd>
      <dt>Created</dt>
      <dd>{exact(rule.created_time)}</dd>
      <dt>Id</dt>
      <dd>{rule.id}</dd>
    </dl>
  );
}
