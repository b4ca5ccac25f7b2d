// The API client with the user's token.

import { Rethread } from 'rethread';
import type { Auth } from '../auth/auth';
import { apiUrl } from '../config';

export type Api = Rethread;

/** @param watchUrl address of the WebSocket API */
export function createApi(auth: Auth, watchUrl: string, fetch?: typeof globalThis.fetch): Api {
  const token = ({ rejected }: { rejected?: string }) => auth.token(rejected);
  return new Rethread({ baseUrl: apiUrl(), wsUrl: watchUrl, token, fetch });
}

/** A unique id. Unlike crypto.randomUUID it works without https. */
export function uid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
