// The dialog that shares a session, loaded when it is first opened.

import { lazy } from '../kit/lazy';

export const ShareDialog = lazy(() => import('./dialog').then((m) => m.ShareDialog), 'dialog');
