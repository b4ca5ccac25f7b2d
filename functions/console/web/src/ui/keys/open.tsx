// Opens the list of keys, which is loaded when it is first opened.

import type { View } from '../context';
import { lazy } from '../kit/lazy';

const KeysDialog = lazy(() => import('./dialog').then((m) => m.KeysDialog), 'dialog');

export function openKeys(view: View): void {
  view.dialog.value = <KeysDialog />;
}
