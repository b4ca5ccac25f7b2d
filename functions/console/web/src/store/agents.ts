// The agents to choose from. The choice for new chats is kept in the browser, that of a chat in its tab.

import { effect, type Signal, signal } from '@preact/signals-core';
import { type AgentCard, listAgents, readCard } from '../api/agents';
import type { Api } from '../api/client';
import { quote } from './text';

const STORAGE_KEY = 'rethread.agent';
/** The agent of runs for which neither the session nor the question names one. */
const DEFAULT = 'default';
const WAIT = 5000; // milliseconds that a new chat waits for the names

/** The name of an agent, as shown; '' is the default one too. */
export const agentName = (agent: string): string =>
  agent === '' || agent === DEFAULT ? 'Default agent' : agent;

/** The agent that was chosen for a chat in this tab; '' for none. */
export function agentOf(session: string): Signal<string> {
  const key = `${STORAGE_KEY} ${session}`;
  const agent = signal(sessionStorage.getItem(key) ?? '');
  effect(() => {
    if (agent.value) sessionStorage.setItem(key, agent.value);
  });
  return agent;
}

export class Agents {
  /** Names; empty until loaded. */
  readonly names = signal<readonly string[]>([]);
  /** The agent of new chats; '' for the default one. */
  readonly preferred = signal(localStorage.getItem(STORAGE_KEY) ?? '');
  readonly #api: Api;
  readonly #cards = new Map<string, Promise<AgentCard>>();
  #loading: Promise<void> | null = null;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Loads the names, once; after a failure again. */
  load(): Promise<void> {
    this.#loading ??= listAgents(this.#api).then(
      (names) => {
        this.names.value = names;
        if (!names.includes(this.preferred.peek())) this.preferred.value = '';
      },
      (error: unknown) => {
        this.#loading = null;
        throw error;
      },
    );
    return this.#loading;
  }

  /**
   * The agent of a new chat: the preferred one if it is configured, else '' for the default one. Waits
   * for the names, and rejects if no agent would answer.
   * @param say called with a text if the preferred one is not used
   */
  async ofNewChat(say: (text: string) => void): Promise<string> {
    const preferred = this.preferred.peek();
    if (preferred === '') return '';
    if (!(await this.#loaded())) {
      say(
        `The agents could not be loaded. The default agent is asked instead of ${quote(preferred)}.`,
      );
      return '';
    }
    if (this.names.peek().includes(preferred)) return preferred;
    const gone = `The agent ${quote(preferred)} is not available.`;
    if (this.answering('') === '') throw new Error(`${gone} Choose another one.`);
    say(`${gone} The default agent is asked.`);
    return '';
  }

  // Whether the names are known in time.
  #loaded(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), WAIT);
      this.load()
        .then(
          () => resolve(true),
          () => resolve(false),
        )
        .finally(() => clearTimeout(timer));
    });
  }

  prefer(name: string): void {
    this.preferred.value = name;
    localStorage.setItem(STORAGE_KEY, name);
  }

  card(name: string): Promise<AgentCard> {
    const known = this.#cards.get(name);
    if (known) return known;
    const card = readCard(this.#api, name);
    this.#cards.set(name, card);
    card.catch(() => this.#cards.delete(name));
    return card;
  }

  /** The agent that answers where this one is named, or none; '' if there is none. */
  answering(agent: string): string {
    const names = this.names.value;
    const only = names.length === 1 ? names[0] : undefined;
    const name = agent || (names.includes(DEFAULT) ? DEFAULT : (only ?? ''));
    return names.includes(name) ? name : '';
  }
}
