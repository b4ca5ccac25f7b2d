// Opens the palette and the list of keys, which are loaded when they are first opened.

import type { View } from '../context';
import { lazy } from '../kit/lazy';

export const Palette = lazy(() => import('./palette').then((m) => m.Palette), 'dialog');
export const KeysDialog = lazy(() => import('../keys/dialog').then((m) => m.KeysDialog), 'dialog');

export function openPalette(view: View): void {
  view.dialog.value = <Palette />;
}

export function openKeys(view: View): void {
  view.dialog.value = <KeysDialog />;
}
