// The part of a chat's address that says what of it to show: the whole log, or a certain message.

import { useLocation, useSearchParams } from 'wouter-preact';

export interface Address {
  /** Whether rewound parts are shown, too. */
  history: boolean;
  /** The invocation to bring into sight; '' for none. */
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

/** Shows a chat, or another part of the one that is shown. */
export function useShow() {
  const [, navigate] = useLocation();
  return (session: string, address: Partial<Address> = {}, replace = false) =>
    navigate(addressOf(session, address), { replace });
}
