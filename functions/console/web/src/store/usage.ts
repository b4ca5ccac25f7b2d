// The tokens that an answer has used, where its agent tells.

import type { Event } from '../api/types';

export interface Usage {
  /** Those that the model read, and wrote. */
  input: number;
  output: number;
  /** Of the input, those that the provider had cached; of the output, those of thinking. */
  cached: number;
  reasoning: number;
}

type Members = Record<string, unknown>;

/** The sum over the events of an answer; null if none of them tells. */
export function usageOf(events: readonly Event[]): Usage | null {
  const all = events.flatMap(reportsOf).map(({ usage }) => usage);
  if (all.length === 0) return null;
  const sum = (of: (usage: Usage) => number) => all.reduce((total, usage) => total + of(usage), 0);
  return {
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cached: sum(({ cached }) => cached),
    reasoning: sum(({ reasoning }) => reasoning),
  };
}

export interface Report {
  /** The model, if the report or its event names it. */
  model: string | undefined;
  usage: Usage;
}

/** What an event tells of tokens. An agent may report each of several models. */
export function reportsOf(event: Event): Report[] {
  const { usage_metadata: usage, model, model_version: version } = event as Members;
  return reported(usage, nameIn(version) ?? nameIn(model));
}

function reported(usage: unknown, model: string | undefined): Report[] {
  if (Array.isArray(usage)) return usage.flatMap((one) => reported(one, model));
  if (!isObject(usage)) return [];
  return known(usage).map((one) => ({ model: nameIn(usage.model) ?? model, usage: one }));
}

const nameIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

// The names of OpenAI's Responses, of chat completions, of Gemini (so ADK), and of AG-UI.
const NAMES = [
  ['input_tokens', 'output_tokens', 'input_tokens_details', 'output_tokens_details'],
  ['prompt_tokens', 'completion_tokens', 'prompt_tokens_details', 'completion_tokens_details'],
  [
    'prompt_token_count',
    'candidates_token_count',
    'cached_content_token_count',
    'thoughts_token_count',
  ],
  ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'],
] as const;

function known(u: Members): Usage[] {
  const [input, output, cached, reasoning] = NAMES.find(([name]) => name in u) ?? [];
  if (!input || !output || !cached || !reasoning) return [];
  const thinking = count(u[reasoning], 'reasoning_tokens');
  const beside = reasoning === 'thoughts_token_count' ? thinking : 0; // not among the output
  return [
    {
      input: count(u[input]),
      output: count(u[output]) + beside,
      cached: count(u[cached], 'cached_tokens'),
      reasoning: thinking,
    },
  ];
}

/** @param member of the value, if that is an object */
function count(value: unknown, member = ''): number {
  if (isObject(value)) return count(value[member]);
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;
