// What never comes fails the test in the end; a busy machine may take longer than the
// second that is the default.

import { vi } from 'vitest';

const { waitFor } = vi;

vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: 20_000, ...options });
