import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Agents } from '../src/store/agents';
import { type Answer, FakeServer } from './fakes';

let server: FakeServer;
let told: string[];

beforeEach(() => {
  server = new FakeServer();
  told = [];
  localStorage.setItem('rethread.agent', 'analyst');
});

afterEach(() => {
  vi.useRealTimers();
  localStorage.clear();
});

function agents(...names: string[]): Agents {
  server.answer = () => [200, { data: names.map((id) => ({ id })) }];
  return new Agents(server.api);
}

const chosen = (of: Agents) => of.ofNewChat((text) => told.push(text));

test('a new chat has the preferred agent', async () => {
  expect(await chosen(agents('default', 'analyst'))).toBe('analyst');
  expect(told).toEqual([]);
});

test('a new chat waits for nothing if no agent is preferred', async () => {
  localStorage.clear();
  expect(await chosen(agents('default'))).toBe('');
  expect(server.asked).toEqual([]);
});

test('an agent that is not configured any more is replaced by the default one', async () => {
  const list = agents('default', 'other');
  expect(await chosen(list)).toBe('');
  expect(told).toEqual([expect.stringMatching(/analyst.* is not available. The default agent/)]);
  expect(list.preferred.value).toBe('');
  expect(await chosen(list)).toBe('');
  expect(told).toHaveLength(1);
});

test('without a default one, another must be chosen', async () => {
  await expect(chosen(agents('one', 'other'))).rejects.toThrow('Choose another one.');
});

test('if the names cannot be loaded, the default one is asked, and the choice is kept', async () => {
  const list = agents('default', 'analyst');
  const { answer } = server;
  server.answer = () => [500, {}];
  expect(await chosen(list)).toBe('');
  expect(told).toEqual([expect.stringContaining('could not be loaded')]);
  server.answer = answer;
  expect(await chosen(list)).toBe('analyst');
});

test('names that do not arrive are not waited for', async () => {
  vi.useFakeTimers();
  const list = agents();
  server.answer = () => new Promise<Answer>(() => {});
  const waiting = chosen(list);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await waiting).toBe('');
  expect(told).toHaveLength(1);
});
