// The claims of a token. They are not verified here; the server does that.

export interface Claims {
  sub?: string;
  exp?: number; // seconds
  name?: string;
  preferred_username?: string;
  email?: string;
}

/** The claims of a JWT; empty if it is not one. */
export function claimsOf(token: string): Claims {
  try {
    const text = atob((token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  } catch {
    return {};
  }
}

/** Whether a token is valid for another minute; `until` in epoch milliseconds. */
export function isFresh(until: number): boolean {
  return until - Date.now() > 60_000;
}
