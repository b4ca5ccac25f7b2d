// The query of a chat's address: whether to show the complete log, and which message.

import { useLocation, useSearchParams } from 'wouter-preact';

export interface Address {
  /** Whether rewound messages are shown too. */
  history: boolean;
  /** The invocation to scroll to; '' for none. */
  at: string;
}

export function useAddress(): Address {
  const [params] = useSearchParams();
  return { history: params.has('history'), at: params.get('at') ?? '' };
}

export function addressOf(session: string, { history = false, at = '' }: Partial<Address> = {}) {
  const params = new URLSearchParams();
  if (history) params.set('history', '1');
  if (at) params.set('at', at);
  const search = params.toString();
  return `/s/${encodeURIComponent(session)}${search && `?${search}`}`;
}

/** Opens a chat, or another part of the open one. */
export function useShow() {
  const [, navigate] = useLocation();
  return (session: string, address: Partial<Address> = {}, replace = false) =>
    navigate(addressOf(session, address), { replace });
}
