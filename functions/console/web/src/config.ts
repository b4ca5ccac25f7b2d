// The settings from the function that serves the page.

export type SignIn =
  | { kind: 'dev'; token_url: string }
  | { kind: 'oidc'; issuer: string; client_id: string; scope: string }
  | { kind: 'none' };

export interface Config {
  /** Address of the WebSocket API. */
  watch_url: string;
  /** Address of the streaming API; absent if it is the page's own. */
  stream_url?: string;
  sign_in: SignIn;
  /** What tokens cost; absent if the deployer does not say. */
  prices?: Prices;
  /** Address of a trace, with {trace_id} in place of its id; absent if there is none. */
  trace_url?: string;
}

/** Dollars a million tokens, by the name of a model or an agent. */
export type Prices = Readonly<
  Record<string, { input: number; output: number /** Of cached input. */; cached?: number }>
>;

/** Base path of the page and of its client-side routes. */
export const BASE = import.meta.env.BASE_URL.replace(/\/$/, '');

/** Path to which an identity provider returns. */
export const CALLBACK = `${BASE}/callback`;

export async function readConfig(): Promise<Config> {
  const response = await fetch(`${BASE}/config.json`, { cache: 'no-store' });
  if (!response.ok) throw new Error(`Could not load the console's settings (${response.status}).`);
  return response.json();
}
