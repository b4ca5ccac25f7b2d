// What may not happen behind a test's back: errors in the console of the browser, exceptions that
// nobody caught, and what the page's policy had to forbid.

import type { BrowserContext } from '@playwright/test';

export class Faults {
  #seen: string[] = [];
  #allowed: RegExp[] = [];

  watch(context: BrowserContext): void {
    context.on('console', (message) => {
      // Violations of the Content-Security-Policy are among the errors.
      if (message.type() === 'error') this.#add(`${message.text()} (${message.location().url})`);
    });
    context.on('weberror', (error) => this.#add(`uncaught: ${error.error().stack}`));
  }

  /** Says that the test brings such errors about, such as by taking the network away. */
  allow(...patterns: RegExp[]): void {
    this.#allowed.push(...patterns);
  }

  /** All that were not allowed. */
  get list(): string[] {
    return this.#seen.filter((fault) => !this.#allowed.some((pattern) => pattern.test(fault)));
  }

  #add(fault: string): void {
    this.#seen.push(fault);
  }
}
