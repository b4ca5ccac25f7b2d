// What a session shows, bubble by bubble: what has to be the same again after a reload.

import type { Page } from '@playwright/test';

export interface Bubble {
  /** `user`, `agent`, or `failure` for one that stands by itself. */
  role: string;
  status: string;
  invocation: string;
  text: string;
  /** What stands below the text: changes of state, artifacts, why it broke off. */
  more: string[];
}

const BELOW = '.changes li, .chips li, .stopped, [data-testid=failure] p';

/** The bubbles that are drawn now; of a long session those in sight and around it. */
export function bubbles(page: Page): Promise<Bubble[]> {
  const all = '[data-testid=message], :not([data-testid=message]) > [data-testid=failure]';
  return page.locator(all).evaluateAll(
    (elements, below) =>
      elements.map((element) => ({
        role: element.getAttribute('data-role') ?? 'failure',
        status: element.getAttribute('data-status') ?? '',
        invocation: element.getAttribute('data-invocation') ?? '',
        text: element.querySelector('[data-testid=body]')?.textContent ?? '',
        more: [...element.querySelectorAll(below)].map((line) => line.textContent ?? ''),
      })),
    BELOW,
  );
}
