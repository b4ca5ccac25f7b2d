// The record of a webhook's deliveries: the latest first, page by page, kept up to date.

import type { Delivery } from 'rethread';
import type { Api } from '../api/client';
import { Paged } from './paged';

const PAGE = 50;
const POLL_INTERVAL = 2000; // milliseconds, while something is under way and the page is visible
const EXPECT_FOR = 60_000; // milliseconds; a delivery is listed after its first attempt

export class Deliveries extends Paged<Delivery> {
  readonly #api: Api;
  readonly #webhook: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expected = new Map<string, number>(); // until when a delivery that is not listed yet is looked for

  constructor(api: Api, webhook: string) {
    super();
    this.#api = api;
    this.#webhook = webhook;
  }

  /** Looks for a delivery that has been requested, until its first attempt is over. */
  expect({ id }: Delivery): void {
    this.#expected.set(id, Date.now() + EXPECT_FOR);
    void this.refresh();
  }

  protected async read(cursor: string | undefined) {
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    return this.#api.webhooks.deliveries(this.#webhook, query);
  }

  protected key({ id }: Delivery): string {
    return id;
  }

  protected override arrived(top: readonly Delivery[]): void {
    for (const { id, state } of top) if (state !== 'pending') this.#expected.delete(id);
  }

  protected override settle(running: boolean): void {
    clearTimeout(this.#timer);
    if (!running) return;
    const due = (time: number | null) => time !== null && time < Date.now() + POLL_INTERVAL;
    const soon = this.list.value.some((d) => d.state === 'pending' && due(d.next_attempt_time));
    if (soon || this.#expects()) this.#timer = setTimeout(() => void this.refresh(), POLL_INTERVAL);
  }

  #expects(): boolean {
    for (const [id, until] of this.#expected) if (until < Date.now()) this.#expected.delete(id);
    return this.#expected.size > 0;
  }
}
