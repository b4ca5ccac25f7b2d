import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lazy } from '../src/ui/kit/lazy';

let root: HTMLElement;

beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
});

afterEach(() => {
  render(null, root);
  root.remove();
});

const Hello = ({ name }: { name: string }) => <p>Hello {name}</p>;

test('a part is loaded when it is first shown, once', async () => {
  const load = vi.fn(async () => Hello);
  const Part = lazy(load);
  expect(load).not.toHaveBeenCalled();
  await act(() => render(<Part name="Ada" />, root));
  await vi.waitFor(() => expect(root.textContent).toBe('Hello Ada'));
  await act(() => render(<Part key="again" name="Bo" />, root));
  expect([root.textContent, load.mock.calls.length]).toEqual(['Hello Bo', 1]);
});

test('while it is loaded, it says so', async () => {
  const Part = lazy(() => new Promise<typeof Hello>(() => {}));
  await act(() => render(<Part name="Ada" />, root));
  expect(root.querySelector('[role=status]')?.textContent).toBe('Loading…');
});

test('a part that was loaded before is shown at once', async () => {
  const load = vi.fn(async () => Hello);
  const Part = lazy(load);
  Part.preload();
  await vi.waitFor(() => expect(load).toHaveReturned());
  await Promise.resolve();
  render(<Part name="Ada" />, root);
  expect([root.textContent, load.mock.calls.length]).toEqual(['Hello Ada', 1]);
});

test('a failure is told, and can be tried again', async () => {
  const load = vi.fn(async () => Hello);
  load.mockRejectedValueOnce(new Error('offline'));
  const Part = lazy(load);
  await act(() => render(<Part name="Ada" />, root));
  await vi.waitFor(() => expect(root.querySelector('[role=alert]')).not.toBeNull());
  const [reload, again] = root.querySelectorAll('button');
  expect([reload?.textContent, again?.textContent]).toEqual(['Reload', 'Try again']);
  await act(() => again?.click());
  await vi.waitFor(() => expect(root.textContent).toBe('Hello Ada'));
});

test('a preload that fails is tried again when the part is shown', async () => {
  const load = vi.fn(async () => Hello);
  load.mockRejectedValueOnce(new Error('offline'));
  const Part = lazy(load);
  Part.preload();
  await vi.waitFor(() => expect(load).toHaveReturned());
  await act(() => render(<Part name="Ada" />, root));
  await vi.waitFor(() => expect(root.textContent).toBe('Hello Ada'));
});
