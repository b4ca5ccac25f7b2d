// The agents of the deployment, and how their cards describe them.

import type { Api } from './client';

export interface Skill {
  name: string;
  description: string;
  examples: string[];
}

export interface AgentCard {
  name: string;
  description: string;
  version: string;
  /** Who provides it; '' if the card does not say. */
  provider: string;
  skills: Skill[];
}

/** The names of the configured agents. */
export async function listAgents(api: Api): Promise<string[]> {
  const response = await api.fetch(`${api.streams.url}/v1/models`);
  if (!response.ok) throw new Error(`The agents could not be loaded (${response.status}).`);
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

/** Reads a card, of which any member may be missing. */
export async function readCard(api: Api, agent: string): Promise<AgentCard> {
  const card = await api.a2a.card(agent);
  const provider = card.provider as { organization?: unknown } | undefined;
  const skills = Array.isArray(card.skills) ? (card.skills as Record<string, unknown>[]) : [];
  return {
    name: text(card.name) || agent,
    description: text(card.description),
    version: text(card.version),
    provider: text(provider?.organization),
    skills: skills.map(({ name, description, examples }) => ({
      name: text(name),
      description: text(description),
      examples: Array.isArray(examples) ? examples.map(text).filter((line) => line !== '') : [],
    })),
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
