// The API client with the user's token.

import { Rethread } from 'rethread';
import type { Auth } from '../auth/auth';
import { apiUrl } from '../config';

export type Api = Rethread;

/**
 * @param watchUrl address of the WebSocket API
 * @param streamUrl address of the streaming API, without the API's version; the page's own by default
 */
export function createApi(
  auth: Auth,
  watchUrl: string,
  fetch?: typeof globalThis.fetch,
  streamUrl?: string,
): Api {
  const token = ({ rejected }: { rejected?: string }) => auth.token(rejected);
  const streams = streamUrl && { streamUrl: `${streamUrl}/api/v1` };
  return new Rethread({ baseUrl: apiUrl(), wsUrl: watchUrl, token, fetch, ...streams });
}

/** A unique id. Unlike crypto.randomUUID it works without https. */
export function uid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
