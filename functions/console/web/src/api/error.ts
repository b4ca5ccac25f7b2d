// Texts of errors, for users.

import { ConnectionError } from 'rethread';

/** The text to show for anything that was thrown. */
export function errorText(error: unknown): string {
  if (error instanceof ConnectionError) return 'The server cannot be reached.';
  return error instanceof Error ? error.message : String(error);
}
