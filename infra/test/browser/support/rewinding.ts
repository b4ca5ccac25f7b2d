// Helpers for tests of rewinds and forks.

import { randomUUID } from 'node:crypto';
import type { Locator, Page, Request } from '@playwright/test';
import type { Api, Session } from './api.ts';

/** The message that contains a text. */
export function message(page: Page, text: string): Locator {
  return page.getByTestId('message').filter({ hasText: text });
}

/** Chooses an item from the menu of the message that contains a text. */
export async function menu(page: Page, text: string, item: string): Promise<void> {
  const article = message(page, text);
  await article.hover();
  await article.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

/** Whether a request executes a rewind, rather than previews one. */
export function rewinds(request: Request): boolean {
  return request.url().endsWith('/rewind') && 'idempotency-key' in request.headers();
}

/** Appends a turn that changes state; returns its invocation. */
export async function remember(
  api: Api,
  session: string,
  text: string,
  delta: Record<string, unknown>,
): Promise<string> {
  const invocation_id = randomUUID();
  const said = (role: string, words: string) => ({ role, parts: [{ text: words }] });
  await api.send('POST', `/sessions/${session}/events`, {
    events: [
      { invocation_id, author: 'user', content: said('user', text) },
      {
        invocation_id,
        author: 'demo',
        content: said('model', 'I remember.'),
        actions: { state_delta: delta },
      },
    ],
  });
  return invocation_id;
}

export async function rewind(api: Api, session: string, before?: string): Promise<string> {
  const body = { rewind_before_invocation_id: before };
  const answer = await api.send('POST', `/sessions/${session}/rewind`, body);
  return (answer as { data: { event: { invocation_id: string } } }).data.event.invocation_id;
}

export async function fork(
  api: Api,
  session: string,
  name: string,
  before?: string,
): Promise<Session> {
  const body = { rewind_before_invocation_id: before ?? null, name };
  return ((await api.send('POST', `/sessions/${session}/fork`, body)) as { data: Session }).data;
}
