// The bubbles that a session shows, which must be the same after a reload.

import type { Page } from '@playwright/test';

export interface Bubble {
  /** `user`, `agent`, or `failure` for a separate failure. */
  role: string;
  status: string;
  invocation: string;
  text: string;
  /** The content below the text: state changes, artifacts, the failure. */
  more: string[];
}

const BELOW = '.changes li, .chips li, .stopped, [data-testid=failure] p';

/** The rendered bubbles: in a long session those in view and around it. */
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
