import { cleanup, render } from '@testing-library/preact';
import { useRef } from 'preact/hooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useStick } from '../src/ui/chat/stick';

const HEIGHT = 500;

// A list of which the test says how long it is, where it stands, and when it is measured.
let content = 2000;
let at = 0;
let measure = () => {};

beforeEach(() => {
  content = 2000;
  at = 0;
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(tell: () => void) {
        measure = tell;
      }
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function open() {
  function List() {
    const [scroller, rows] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
    const { stuck } = useStick(scroller, rows, false);
    return (
      <div ref={scroller} data-testid="list" data-stuck={stuck}>
        <div ref={rows} />
      </div>
    );
  }
  const { getByTestId } = render(<List />);
  const list = getByTestId('list');
  Object.defineProperties(list, {
    scrollHeight: { get: () => content },
    clientHeight: { get: () => HEIGHT },
    scrollTop: {
      get: () => at,
      set: (top: number) => {
        at = Math.max(0, Math.min(top, content - HEIGHT));
      },
    },
  });
  const grow = (by: number) => {
    content += by;
    at = Math.min(at, content - HEIGHT);
    measure();
    list.dispatchEvent(new Event('scroll'));
  };
  const scroll = (by: number) => {
    list.scrollTop += by;
    list.dispatchEvent(new Event('scroll'));
  };
  grow(0);
  return { grow, scroll, rest: () => content - HEIGHT - at };
}

test('the end stays in view while an answer grows, and when content shrinks', () => {
  const { grow, rest } = open();
  for (const by of [30, 200, -50, 10]) {
    grow(by);
    expect(rest()).toBe(0);
  }
});

test.each([2, 30, 59, 120])('scrolling up by %i pixels during an answer stays', (notch) => {
  const { grow, scroll, rest } = open();
  grow(40);
  scroll(-notch);
  for (let n = 1; n <= 5; n++) {
    grow(20);
    expect(rest()).toBe(notch + 20 * n);
  }
  grow(-10);
  expect(rest()).toBe(notch + 90);
});

test('scrolling down to near the end follows it again', () => {
  const { grow, scroll, rest } = open();
  scroll(-300);
  scroll(100);
  grow(20);
  expect(rest()).toBe(220);
  scroll(190);
  grow(20);
  expect(rest()).toBe(0);
});
