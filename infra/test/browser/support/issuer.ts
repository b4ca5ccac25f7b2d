// A real OpenID Connect provider, with the console as a public client that must use PKCE.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export const CLIENT = 'rethread-console';
export const AUDIENCE = 'rethread';

export interface Issuer {
  url: string;
  stop(): Promise<void>;
}

/** @param tokenLife lifetime of access tokens in seconds */
export async function startIssuer(tokenLife: number): Promise<Issuer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', provider(url, tokenLife).callback());
  return { url, stop: () => closed(server) };
}

function provider(url: string, tokenLife: number): Provider {
  return new Provider(url, {
    clients: [
      {
        client_id: CLIENT,
        application_type: 'native', // allows redirects to any port of this machine
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/console/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    clientBasedCORS: () => true,
    cookies: { keys: ['not a secret'] },
    claims: { openid: ['sub'], profile: ['name'] },
    conformIdTokenClaims: false, // puts the name into the token, without another request
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: `${id} by name` }) }),
    issueRefreshToken: async () => true,
    features: {
      devInteractions: { enabled: true }, // accepts any name and password
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'https://rethread.example',
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience: AUDIENCE,
          accessTokenTTL: tokenLife,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve, reject) => server.close((e) => (e ? reject(e) : resolve())));
}
