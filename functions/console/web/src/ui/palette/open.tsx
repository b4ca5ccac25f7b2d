// Opens the palette, which is loaded when it is first opened.

import type { View } from '../context';
import { lazy } from '../kit/lazy';

export const Palette = lazy(() => import('./palette').then((m) => m.Palette), 'dialog');

export function openPalette(view: View): void {
  view.dialog.value = <Palette />;
}
