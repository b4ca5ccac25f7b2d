// The choice of an agent, with what each one says of itself.

import { useEffect, useState } from 'preact/hooks';
import type { AgentCard } from '../../api/agents';
import { agentName } from '../../store/agents';
import { useApp } from '../context';
import { Dialog } from '../kit/dialog';
import './agents.css';

interface Props {
  /** The agent that answers now; '' if none does. */
  current: string;
  choose: (agent: string) => void;
}

export function AgentDialog({ current, choose }: Props) {
  const { agents } = useApp();
  const [chosen, setChosen] = useState(current);
  return (
    <Dialog
      title="Agent"
      submit={{ label: 'Choose', run: async () => choose(chosen), disabled: chosen === '' }}
    >
      <p class="hint">
        It answers the next questions. What was said before stays, and the agent reads it.
      </p>
      <fieldset class="agents">
        <legend class="hidden">Agents</legend>
        {agents.names.value.map((name) => (
          <Agent key={name} name={name} chosen={name === chosen} choose={() => setChosen(name)} />
        ))}
      </fieldset>
    </Dialog>
  );
}

function Agent({ name, chosen, choose }: { name: string; chosen: boolean; choose: () => void }) {
  const card = useCard(name);
  const about = `about-${name}`;
  return (
    <div class="agent" data-chosen={chosen}>
      <label>
        <input
          type="radio"
          name="agent"
          value={name}
          checked={chosen}
          aria-describedby={about}
          onChange={choose}
        />
        <b dir="auto">{agentName(name)}</b>
        {card && card !== 'failed' && card.name !== name && <span dir="auto">{card.name}</span>}
      </label>
      <div id={about} class="agent-card">
        <About card={card} open={chosen} />
      </div>
    </div>
  );
}

function About({ card, open }: { card: AgentCard | 'failed' | null; open: boolean }) {
  if (card === null) return <p class="hint">Loading its card…</p>;
  if (card === 'failed') return <p class="hint">Its card could not be loaded.</p>;
  const { description, provider, version, skills } = card;
  const source = [provider, version && `version ${version}`].filter(Boolean).join(', ');
  return (
    <>
      {description && <p dir="auto">{description}</p>}
      {source && <p class="hint">{source}</p>}
      {open && skills.length > 0 && (
        <ul>
          {skills.map((skill) => (
            <li key={skill.name}>
              <span dir="auto">
                <b>{skill.name}</b>
                {skill.description && `: ${skill.description}`}
              </span>
              {skill.examples.length > 0 && (
                <q class="hint" dir="auto">
                  {skill.examples[0]}
                </q>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function useCard(name: string): AgentCard | 'failed' | null {
  const { agents } = useApp();
  const [card, setCard] = useState<AgentCard | 'failed' | null>(null);
  useEffect(() => {
    let shown = true;
    agents.card(name).then(
      (read) => shown && setCard(read),
      () => shown && setCard('failed'),
    );
    return () => {
      shown = false;
    };
  }, [agents, name]);
  return card;
}
