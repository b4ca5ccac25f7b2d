// Sharing: who else may read or continue a session.

import type { Accepted } from 'rethread';
import type { Api } from './client';
import type { Share } from './types';

export type SharedAccess = Share['access'];

export interface ShareOptions {
  access: SharedAccess;
  /** Id of the user; '' creates a link. */
  user: string;
  /** Seconds that it lasts; null until it is revoked. */
  life: number | null;
}

/** The shares in force, oldest first. */
export function listShares(api: Api, session: string): Promise<Share[]> {
  return api.shares.list(session, { limit: 100 }).all();
}

/** Shares a session; the key makes it safe to repeat, but only the first answer has a link's token. */
export function createShare(
  api: Api,
  session: string,
  { access, user, life }: ShareOptions,
  key: string,
): Promise<Share> {
  const request = {
    access,
    ...(user && { user_id: user }),
    ...(life !== null && { expires_in: life }),
  };
  return api.shares.create(session, request, { idempotencyKey: key });
}

export function revokeShare(api: Api, session: string, share: string): Promise<void> {
  return api.shares.revoke(session, share);
}

export function acceptShare(api: Api, token: string): Promise<Accepted> {
  return api.shares.accept(token);
}

/** Gives up the access that others have given the user. */
export function leaveSession(api: Api, session: string): Promise<void> {
  return api.sessions.leave(session);
}
