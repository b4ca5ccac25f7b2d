// What a token says about itself. Nothing is verified here: that is the server's part.

export interface Claims {
  sub?: string;
  exp?: number; // seconds
  name?: string;
  preferred_username?: string;
  email?: string;
}

/** The claims of a JWT; none where it is not one. */
export function claimsOf(token: string): Claims {
  try {
    const text = atob((token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  } catch {
    return {};
  }
}

/** Whether a token is good for another minute; `until` in milliseconds. */
export function isFresh(until: number): boolean {
  return until - Date.now() > 60_000;
}
