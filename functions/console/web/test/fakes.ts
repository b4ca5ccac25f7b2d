// Fakes that replace the network in tests.

import { signal } from '@preact/signals-core';
import { RethreadError, type WatchError, type WatchedSession, type WatchOptions } from 'rethread';
import { createApi } from '../src/api/client';
import type { Event, Session } from '../src/api/types';
import type { Auth, User } from '../src/auth/auth';
import { Chat } from '../src/store/chat';
import type { Edit } from '../src/store/drafts';
import { DraftFiles } from '../src/store/files';
import { Toasts } from '../src/store/toasts';

export class FakeAuth implements Auth {
  readonly user = signal<User | null>({ id: 'alice', name: 'alice' });
  tokens = ['first', 'second'];

  async token(refused?: string): Promise<string> {
    if (refused === this.tokens[0]) this.tokens.shift();
    return this.tokens[0] ?? '';
  }
  async signIn(): Promise<void> {}
  async resume(): Promise<string | null> {
    return null;
  }
  signOut(): void {}
}

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Headers;
  body: unknown;
}

export type Answer = [status: number, body?: unknown];

/** An API with responses given by the test, which records its requests. */
export class FakeServer {
  readonly asked: Asked[] = [];
  readonly auth = new FakeAuth();
  answer: (asked: Asked) => Answer | Promise<Answer> = () => [200, {}];

  readonly fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const text = await request.text();
    const asked = {
      method: request.method,
      path: url.pathname.replace('/api/v1', ''),
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: request.headers.get('Content-Type')?.includes('json') ? JSON.parse(text) : text || null,
    };
    this.asked.push(asked);
    const [status, body] = await this.answer(asked);
    return new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' },
    });
  };

  readonly api = createApi(this.auth, 'ws://watch', this.fetch);
}

/** A chat over a fake server, with a watch controlled by the test. */
export function fakeChat(
  server: FakeServer,
  id = 's1',
  edit: Edit = { id: signal(''), text: signal('') },
) {
  const toasts = new Toasts();
  const older = { read: async () => {} };
  let options: WatchOptions<Event> | undefined;
  const chat = new Chat(id, {
    api: server.api,
    toasts,
    draft: signal(''),
    edit,
    files: new DraftFiles(),
    watch: <Item>(_: string, given: WatchOptions<Item>) => {
      options = given as unknown as WatchOptions<Event>;
      return { close: () => {}, older: () => older.read(), retry: () => {} };
    },
    changed: () => {},
  });
  const show = (shown: Partial<WatchedSession<Event>>) =>
    options?.onChange({
      items: [],
      status: 'idle',
      run_id: '',
      error: null,
      kept: false,
      status_seq: 0,
      queued: [],
      queue_version: 0,
      epoch: 0,
      deleted: false,
      has_older: false,
      ...shown,
    });
  const end = (status: number, reason?: WatchError['reason']) =>
    options?.onEnd?.(Object.assign(new RethreadError(status), { reason }));
  const regranted = () => options?.onAccess?.();
  const live = () => options?.onConnection?.({ state: 'live', retryAt: null });
  return { chat, toasts, show, end, older, regranted, live };
}

export function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    user_id: 'alice',
    app_name: 'default',
    agent: '',
    name: id,
    status: 'idle',
    active_run_id: null,
    metadata: {},
    fork: null,
    epoch: 0,
    head_seq: 0,
    created_time: 1,
    updated_time: 1,
    ...more,
  };
}

let ids = 0;

export function event(invocation: string, more: Partial<Event> & { text?: string } = {}): Event {
  const { text, ...rest } = more;
  const author = more.author ?? 'user';
  const content =
    text === undefined ? null : { role: author === 'user' ? 'user' : 'model', parts: [{ text }] };
  return {
    id: `e${++ids}`,
    seq: ids,
    session_id: 's1',
    invocation_id: invocation,
    author,
    content,
    actions: {},
    status: 'completed',
    created_time: 1,
    ...rest,
  };
}
