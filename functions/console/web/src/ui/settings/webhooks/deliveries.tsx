// The deliveries of a webhook.

import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Deliveries } from '../../../store/deliveries';
import { exact } from '../../kit/time';
import { eventWords } from '../event-words';
import { ShowMore } from '../show-more';
import { deliveryMark, triesWords } from './words';

export function DeliveryList({ webhook, deliveries }: { webhook: string; deliveries: Deliveries }) {
  useEffect(() => deliveries.start(), [deliveries]);
  const { list, loaded, loading, failed } = deliveries;
  return (
    <section class="group" aria-labelledby="deliveries">
      <div class="settings-head">
        <h3 id="deliveries">Deliveries</h3>
        <button
          type="button"
          class="button small"
          aria-busy={loading.value}
          onClick={() => void deliveries.refresh()}
        >
          Refresh
        </button>
      </div>
      {failed.value && (
        <p class="notice" role="alert">
          {failed.value}
        </p>
      )}
      {loaded.value && list.value.length === 0 && (
        <p class="hint">
          Nothing was sent in the last 7 days. A delivery appears here after its first attempt.
        </p>
      )}
      {list.value.length > 0 && (
        <ul class="rows">
          {list.value.map((delivery) => {
            const { text, kind } = deliveryMark(delivery);
            return (
              <li key={delivery.id} data-testid="delivery">
                <Link href={`/settings/webhooks/${webhook}/deliveries/${delivery.id}`} class="row">
                  <span class="row-title">{eventWords(delivery.event_type)}</span>
                  <span class={`state-mark ${kind}`}>{text}</span>
                  <span class="row-more">
                    {exact(delivery.created_time)} · {triesWords(delivery)}
                  </span>
                </Link>
              </li>
            );
          })}
        </ul>
      )}
      <ShowMore list={deliveries} />
    </section>
  );
}
