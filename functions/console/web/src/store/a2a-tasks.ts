// The tasks of a session that were begun over A2A: the newest first, page by page.

import type { Api } from '../api/client';
import { type A2ATask, listA2ATasks } from '../api/notifications';
import { Paged } from './paged';

export class A2ATasks extends Paged<A2ATask> {
  readonly #api: Api;
  readonly #agent: string;
  readonly #session: string;

  constructor(api: Api, agent: string, session: string) {
    super();
    this.#api = api;
    this.#agent = agent;
    this.#session = session;
  }

  protected read(cursor: string | undefined) {
    return listA2ATasks(this.#api, this.#agent, this.#session, cursor);
  }

  protected key({ id }: A2ATask): string {
    return id;
  }
}
