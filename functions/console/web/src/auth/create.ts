// The sign-in that the deployment is configured for.

import type { Config } from '../config';
import type { Auth } from './auth';
import { DevAuth } from './dev';
import { NoAuth } from './none';

export async function createAuth({ sign_in: settings }: Config): Promise<Auth> {
  switch (settings.kind) {
    case 'dev':
      return new DevAuth(settings.token_url);
    case 'oidc': {
      const { OidcAuth } = await import('./oidc');
      return new OidcAuth(settings);
    }
    case 'none':
      return new NoAuth();
  }
}
