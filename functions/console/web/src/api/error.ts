// Texts of errors, for users.

import { ConnectionError, PreconditionFailedError, RateLimitedError, TimeoutError } from 'rethread';

/** The text to show for anything that was thrown. */
export function errorText(error: unknown): string {
  if (error instanceof ConnectionError) return 'The server cannot be reached.';
  if (error instanceof TimeoutError) return 'The server does not answer.';
  if (error instanceof PreconditionFailedError) {
    return 'It has been changed elsewhere since you opened it. Open it again to see how.';
  }
  if (error instanceof RateLimitedError) return `${error.message}${waitText(error)}`;
  return error instanceof Error ? error.message : String(error);
}

function waitText({ message, retryAfter }: RateLimitedError): string {
  if (!retryAfter) return '';
  const seconds = Math.ceil(retryAfter / 1000);
  const stop = /[.!?]$/.test(message) ? '' : '.';
  return `${stop} Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`;
}
