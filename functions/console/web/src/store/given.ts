// The feedback that the user has given: the newest first, page by page.

import { computed } from '@preact/signals-core';
import type { Feedback } from 'rethread';
import type { Api } from '../api/client';
import type { FeedbackType } from '../api/tasks';
import { Paged, type PageOf } from './paged';

const PAGE = 20;
const MAX_EMPTY_PAGES = 10; // the server filters while reading, so a page may be empty

/** Feedback on one message. */
export interface OnMessage {
  key: string;
  newest: Feedback;
  /** What the newest has replaced, the latest first. */
  earlier: readonly Feedback[];
}

export class GivenFeedback extends Paged<Feedback> {
  /** What is loaded, by message: a thumb and its comment are stored one after the other. */
  readonly messages = computed(() => byMessage(this.list.value));
  readonly #api: Api;
  readonly #type: FeedbackType | undefined;

  /** @param type lists only feedback of this type */
  constructor(api: Api, type?: FeedbackType) {
    super();
    this.#api = api;
    this.#type = type;
  }

  protected async read(cursor: string | undefined): Promise<PageOf<Feedback>> {
    const type = this.#type;
    const read = async (from: string | undefined) =>
      this.#api.feedback.list({
        limit: PAGE,
        ...(type && { type }),
        ...(from && { cursor: from }),
      });
    let page = await read(cursor);
    for (let i = 0; page.data.length === 0 && page.next_cursor && i < MAX_EMPTY_PAGES; i++) {
      page = await read(page.next_cursor);
    }
    return page;
  }

  protected key({ created_time, type, text, ...message }: Feedback): string {
    return JSON.stringify([created_time, type, text, messageKey(message)]);
  }
}

const messageKey = ({ session_id, task_id }: Pick<Feedback, 'session_id' | 'task_id'>): string =>
  JSON.stringify([session_id, task_id]);

function byMessage(list: readonly Feedback[]): OnMessage[] {
  const groups = new Map<string, Feedback[]>();
  for (const feedback of list) {
    const key = messageKey(feedback);
    const group = groups.get(key);
    if (group) group.push(feedback);
    else groups.set(key, [feedback]);
  }
  return [...groups].flatMap(([key, [newest, ...earlier]]) =>
    newest ? [{ key, newest, earlier }] : [],
  );
}
