// Copying to the clipboard.

import { useApp } from '../context';

/** Returns a function that copies a text, and says so. */
export function useCopy(): (text: string) => Promise<void> {
  const { toasts } = useApp();
  return async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      toasts.say('Copied.');
    } catch {
      toasts.fail('The browser does not allow copying.');
    }
  };
}
