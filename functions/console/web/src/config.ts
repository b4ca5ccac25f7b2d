// What the function that serves the page says about the system behind it.

export type SignIn =
  | { kind: 'dev'; token_url: string }
  | { kind: 'oidc'; issuer: string; client_id: string; scope: string }
  | { kind: 'none' };

export interface Config {
  /** Address of the WebSocket API. */
  watch_url: string;
  sign_in: SignIn;
}

/** Where the page lives; routes below it are the page's own. */
export const BASE = import.meta.env.BASE_URL.replace(/\/$/, '');

/** Where the HTTP API answers, on the page's own origin. */
export const apiUrl = (): string => `${location.origin}/api/v1`;

export async function readConfig(): Promise<Config> {
  const response = await fetch(`${BASE}/config.json`, { cache: 'no-store' });
  if (!response.ok) throw new Error(`The console's settings cannot be read (${response.status}).`);
  return response.json();
}
