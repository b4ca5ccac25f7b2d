// The button at the end of a list that is read page by page.

import type { Paged } from '../../store/paged';

export function ShowMore({ list }: { list: Paged<unknown> }) {
  if (!list.more.value) return null;
  return (
    <button
      type="button"
      class="button small"
      disabled={list.loading.value}
      onClick={() => void list.loadMore()}
    >
      Show more
    </button>
  );
}
