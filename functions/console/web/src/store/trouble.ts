// Why something about the message field failed, shown beside it until the next attempt.

import { signal } from '@preact/signals-core';
import { errorText } from '../api/error';
import { SignedOut } from '../auth/auth';

export class Trouble {
  /** '' for none. */
  readonly text = signal('');

  /** Shows an error, except that the user has to sign in again, which the page itself shows. */
  fail(error: unknown): void {
    if (!(error instanceof SignedOut)) this.text.value = errorText(error);
  }

  clear(): void {
    this.text.value = '';
  }
}
