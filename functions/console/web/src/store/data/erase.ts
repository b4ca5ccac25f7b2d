// The deletion of everything that the user owns, and its report.

import { signal } from '@preact/signals-core';
import { type Erasure, NotFoundError } from 'rethread';
import type { Api } from '../../api/client';
import { errorText } from '../../api/error';

const POLL_INTERVAL = 2000; // milliseconds

export class Erasing {
  /** The newest deletion; null if there was none in the last 30 days, or it is not known yet. */
  readonly report = signal<Erasure | null>(null);
  readonly failed = signal('');
  /** Whether this page has requested the deletion. */
  readonly requested = signal(false);

  readonly #api: Api;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Requests the deletion. It goes on in the background. */
  async start(): Promise<void> {
    const report = await this.#api.me.erase();
    this.requested.value = true;
    this.#take(report);
  }

  async read(): Promise<void> {
    try {
      this.#take(await this.#api.me.erasure());
    } catch (error) {
      if (error instanceof NotFoundError) this.report.value = null;
      else {
        this.failed.value = errorText(error);
        if (this.report.value?.status === 'in_progress') this.#later();
      }
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #take(report: Erasure): void {
    this.report.value = report;
    this.failed.value = '';
    if (report.status === 'in_progress') this.#later();
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.read(), POLL_INTERVAL);
  }
}
