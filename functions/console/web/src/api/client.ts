// The API client with the user's token.

import { Rethread } from 'rethread';
import type { Auth } from '../auth/auth';

export type Api = Rethread;

/**
 * @param watchUrl address of the WebSocket API
 * @param streamUrl address of the streaming API; the page's own by default
 */
export function createApi(
  auth: Auth,
  watchUrl: string,
  fetch?: typeof globalThis.fetch,
  streamUrl = location.origin,
): Api {
  const token = ({ rejected }: { rejected?: string }) => auth.token(rejected);
  return new Rethread({ url: location.origin, wsUrl: watchUrl, streamUrl, token, fetch });
}

/** A unique id. Unlike crypto.randomUUID it works without https. */
export function uid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
