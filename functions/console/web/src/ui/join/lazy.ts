// The page that a link to a shared session opens, loaded when it is needed.

import { lazy } from '../kit/lazy';

export const JoinPage = lazy(() => import('./page').then((m) => m.JoinPage));
