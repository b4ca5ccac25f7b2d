import { cleanup, render } from '@testing-library/preact';
import { useRef } from 'preact/hooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useHome } from '../src/ui/chat/home';

let at = 0; // where the list stands
let more = 0; // pages that are still to be loaded

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['requestAnimationFrame', 'cancelAnimationFrame'] });
  at = 5000;
  more = 0;
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function open() {
  const release = vi.fn();
  const load = vi.fn();
  function List() {
    const scroller = useRef<HTMLDivElement>(null);
    useHome(scroller, { release, more: () => more > 0, load });
    return (
      <div ref={scroller} data-testid="list">
        <textarea />
      </div>
    );
  }
  const list = render(<List />).getByTestId('list');
  Object.defineProperty(list, 'scrollTop', {
    get: () => at,
    set: (top: number) => {
      at = top;
    },
  });
  const press = (key: string, target: Element = list, init = {}) =>
    target.dispatchEvent(
      new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init }),
    );
  return { list, press, release, load };
}

const frames = (count: number) => {
  for (let n = 0; n < count; n++) vi.advanceTimersToNextFrame();
};

test('Home stays at the first row while rows above are measured and loaded', () => {
  const { press, release } = open();
  more = 2;
  expect(press('Home')).toBe(false); // the browser does not scroll as well
  expect(release).toHaveBeenCalledOnce();
  for (const moved of [120, 0, 700]) {
    at += moved; // as the list does for rows that are measured
    frames(1);
    expect(at).toBe(0);
  }
  for (; more > 0; more--) {
    frames(100); // a slow answer
    at += 3000; // the page is above what was the first row
    frames(1);
    expect(at).toBe(0);
  }
  frames(1);
  at += 80;
  frames(1);
  expect(at).toBe(0);
  frames(50);
  at = 900; // by whatever has scrolled since
  frames(50);
  expect(at).toBe(900);
});

test('Home loads what is missing although the list stands at its top already', () => {
  at = 0;
  more = 1;
  const { press, load } = open();
  load.mockImplementation(() => {
    more = 0;
  });
  press('Home');
  frames(1);
  expect(load).toHaveBeenCalledOnce();
  frames(50);
  expect(load).toHaveBeenCalledOnce();
});

test.each([
  ['a wheel', (list: Element) => list.dispatchEvent(new Event('wheel'))],
  ['a pointer', (list: Element) => list.dispatchEvent(new Event('pointerdown'))],
  ['another key', (_: Element, press: (key: string) => boolean) => press('ArrowDown')],
] as const)('%s stops it', (_, stop) => {
  const { list, press } = open();
  more = 1;
  press('Home');
  frames(3);
  stop(list, press);
  at = 400;
  frames(20);
  expect(at).toBe(400);
});

test('in a field, and with modifiers that mean something else, Home is left alone', () => {
  const { list, press } = open();
  const field = list.querySelector('textarea');
  if (!field) throw new Error('there is no field');
  for (const pressed of [
    () => press('Home', field),
    () => press('Home', list, { shiftKey: true }),
  ]) {
    expect(pressed()).toBe(true);
    frames(3);
    expect(at).toBe(5000);
  }
});
