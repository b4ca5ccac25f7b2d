// The address of a link to a shared session. The token is in the fragment, which browsers send to no
// server; the session after it lets the owner, who cannot accept the link, open the session.

import { BASE } from '../config';

export interface Invitation {
  token: string;
  /** The session that it leads to; '' if the address does not say. */
  session: string;
}

/** Path of the page that accepts links, below the console's. */
export const JOIN = '/join';

export function linkOf({ token, session }: Invitation): string {
  return `${location.origin}${BASE}${JOIN}#${token}/${encodeURIComponent(session)}`;
}

/** The invitation in a fragment, with or without its #; null if there is none that can be valid. */
export function invitationIn(fragment: string): Invitation | null {
  const found = /^#?([\w-]{1,128})(?:\/(.{1,400}))?$/.exec(fragment);
  if (!found?.[1]) return null;
  try {
    return { token: found[1], session: decodeURIComponent(found[2] ?? '') };
  } catch {
    return null; // cut within an escaped character
  }
}
