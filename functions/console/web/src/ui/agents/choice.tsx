// The button that names the agent of the next question, and opens the choice.

import { Bot, ChevronDown } from 'lucide-preact';
import { useEffect } from 'preact/hooks';
import { agentName } from '../../store/agents';
import type { Chat } from '../../store/chat';
import { useApp, useView } from '../context';
import { lazy } from '../kit/lazy';

const AgentDialog = lazy(() => import('./dialog').then((m) => m.AgentDialog), 'dialog');

interface Props {
  /** The agent that is named for the next question; '' for none. */
  named: string;
  choose: (agent: string) => void;
}

export function AgentChoice({ named, choose }: Props) {
  const { agents } = useApp();
  const { dialog } = useView();
  useEffect(() => {
    agents.load().catch(() => {
      // the agents are not needed to ask; the next chat tries again
    });
  }, [agents]);
  if (agents.names.value.length === 0) return null;
  const agent = agents.answering(named);
  return (
    <span class="agent-choice">
      <button
        type="button"
        class="button quiet small"
        aria-haspopup="dialog"
        data-testid="agent"
        onPointerEnter={AgentDialog.preload}
        onClick={() => {
          dialog.value = <AgentDialog current={agent} choose={choose} />;
        }}
      >
        <Bot size={15} aria-hidden="true" />
        <span class="hidden">Agent: </span>
        <span dir="auto">{textFor(agent, named)}</span>
        <ChevronDown size={14} aria-hidden="true" />
      </button>
    </span>
  );
}

function textFor(agent: string, named: string): string {
  if (agent) return agentName(agent);
  return named ? `${named} is not available` : 'Choose an agent';
}

/** The agent of a chat: the session's own, until another one is chosen. */
export function ChatAgent({ chat }: { chat: Chat }) {
  return (
    <AgentChoice
      named={chat.agent.value || (chat.session.value?.agent ?? '')}
      choose={(agent) => {
        chat.agent.value = agent;
      }}
    />
  );
}
