// What requests are made of. What could never be sent, or would name something else, is refused before
// any request, by its name and without its value, which may be secret.

import { ArgumentError } from './errors.js';

/** The segment that names an agent in addresses: one of a namespace has `~` for its slash. */
export const agentSegment = (agent: string): string => agent.replace('/', '~');

/**
 * Returns one segment of a path. URLs drop empty and dotted ones, also escaped, so that they would name
 * another resource; halves of surrogate pairs cannot be escaped.
 */
export function segment(param: string | number | undefined): string {
  const text = String(param ?? '');
  if (['', '.', '..'].includes(text) || /\p{Surrogate}/u.test(text))
    throw new ArgumentError(`${JSON.stringify(text)} is not an id`);
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns a value that a header can have: visible characters of ASCII, with spaces between them. */
export function sendable(name: string, value: string): string {
  const at = value.search(/[^ -~]|^ | $/);
  if (at < 0) return value;
  const code = (value.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw new ArgumentError(`${name}: U+${code} at position ${at} of ${value.length} cannot be sent`);
}

/** Addresses of HTTP, to which paths are appended, and of a WebSocket. */
export const HTTP = /^https?:\/\/[^\s/?#][^\s?#]*$/i;
export const WEBSOCKET = /^(wss?|https?):\/\/[^\s/?#][^\s#]*$/i;

/** Returns an address of a form; with `isRelative` also one that a page completes. */
export function address(name: string, url: string, form: RegExp, isRelative = false): string {
  if (isRelative && /^\/[^\s?#]*$/.test(url)) return url;
  if (form.test(url) && isParsed(url)) return url;
  throw new ArgumentError(`${name}: it is not an address with a scheme, and without a query`);
}

function isParsed(url: string): boolean {
  try {
    return Boolean(new URL(url));
  } catch {
    return false;
  }
}
