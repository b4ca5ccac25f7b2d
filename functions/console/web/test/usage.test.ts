import { expect, test } from 'vitest';
import type { Event } from '../src/api/types';
import { usageOf } from '../src/store/usage';
import { event } from './fakes';

const telling = (usage_metadata: unknown): Event => ({ ...event('i'), usage_metadata }) as Event;

const ALL = { input: 10, output: 5, cached: 4, reasoning: 2 };

test.each([
  [
    'Responses',
    {
      input_tokens: 10,
      output_tokens: 5,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 2 },
    },
  ],
  [
    'chat completions',
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  ],
  [
    'Gemini',
    {
      prompt_token_count: 10,
      candidates_token_count: 3,
      thoughts_token_count: 2,
      cached_content_token_count: 4,
    },
  ],
  ['AG-UI', { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 2 }],
  [
    'several models',
    [
      { inputTokens: 6, outputTokens: 3, cachedInputTokens: 4 },
      { input_tokens: 4, output_tokens: 2, output_tokens_details: { reasoning_tokens: 2 } },
    ],
  ],
])('the tokens of %s are read', (_, usage) => expect(usageOf([telling(usage)])).toEqual(ALL));

test('the tokens of all events are added', () => {
  const one = telling({ prompt_tokens: 1, completion_tokens: 2 });
  const sum = { input: 2, output: 4, cached: 0, reasoning: 0 };
  expect(usageOf([event('i'), one, one])).toEqual(sum);
});

test.each([
  [undefined],
  [null],
  ['many'],
  [{}],
  [{ total: 7 }],
  [[]],
  [{ usage: { prompt_tokens: 1 } }],
])('nothing is known from %j', (usage) => expect(usageOf([telling(usage)])).toBeNull());

test('numbers that are none count as nothing', () => {
  const sum = { input: 0, output: 3, cached: 0, reasoning: 0 };
  expect(
    usageOf([telling({ prompt_tokens: 'x', completion_tokens: 3, prompt_tokens_details: null })]),
  ).toEqual(sum);
});
