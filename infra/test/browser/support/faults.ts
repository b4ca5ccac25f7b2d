// Collects errors that must not occur unnoticed: errors in the browser's console, uncaught
// exceptions, and violations of the page's policy.

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

  /** Allows errors that the test provokes, for example by going offline. */
  allow(...patterns: RegExp[]): void {
    this.#allowed.push(...patterns);
  }

  /** The errors that were not allowed. */
  get list(): string[] {
    return this.#seen.filter((fault) => !this.#allowed.some((pattern) => pattern.test(fault)));
  }

  #add(fault: string): void {
    this.#seen.push(fault);
  }
}
