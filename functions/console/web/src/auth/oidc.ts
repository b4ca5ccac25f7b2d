// Sign-in with an OpenID Connect provider: the code flow with PKCE, for a public client.
// Tokens are kept in sessionStorage, so they end with the tab.

import { signal } from '@preact/signals-core';
import * as oauth from 'oauth4webapi';
import { BASE, CALLBACK, type SignIn } from '../config';
import { type Auth, SignedOut, type User } from './auth';
import { type Claims, claimsOf, isFresh } from './jwt';

const TOKENS = 'rethread.tokens';
const LEAVING = 'rethread.leaving';

interface Tokens {
  access: string;
  until: number; // milliseconds
  name: string;
  refresh?: string | undefined;
}

interface Leaving {
  state: string;
  nonce: string;
  verifier: string;
  /** The address to return to. */
  from: string;
}

export class OidcAuth implements Auth {
  readonly user = signal<User | null>(null);
  readonly #settings: Extract<SignIn, { kind: 'oidc' }>;
  readonly #client: oauth.Client;
  #tokens: Tokens | null = load<Tokens>(TOKENS);
  #renewing: Promise<string> | null = null;
  #server: Promise<oauth.AuthorizationServer> | null = null;

  constructor(settings: Extract<SignIn, { kind: 'oidc' }>) {
    this.#settings = settings;
    this.#client = { client_id: settings.client_id };
    if (this.#tokens) this.user.value = userOf(this.#tokens);
  }

  async token(refused?: string): Promise<string> {
    const tokens = this.#tokens;
    if (tokens && tokens.access !== refused && isFresh(tokens.until)) return tokens.access;
    this.#renewing ??= this.#renew(tokens?.refresh).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async signIn(): Promise<void> {
    const server = await this.#discover();
    if (!server.authorization_endpoint)
      throw new Error('The identity provider has no sign-in page.');
    const leaving: Leaving = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      from:
        location.pathname === CALLBACK
          ? `${BASE}/`
          : location.pathname + location.search + location.hash,
    };
    sessionStorage.setItem(LEAVING, JSON.stringify(leaving));
    const url = new URL(server.authorization_endpoint);
    const query = {
      response_type: 'code',
      client_id: this.#settings.client_id,
      redirect_uri: callback(),
      scope: this.#settings.scope,
      state: leaving.state,
      nonce: leaving.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(leaving.verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    location.assign(url);
  }

  async resume(): Promise<string | null> {
    if (location.pathname !== CALLBACK) return null;
    const leaving = load<Leaving>(LEAVING);
    sessionStorage.removeItem(LEAVING);
    if (!leaving) return `${BASE}/`; // a reload of this address: the code was used
    const answer = new URL(location.href);
    history.replaceState(null, '', leaving.from); // also if the sign-in has failed, to try again
    const server = await this.#discover();
    const given = oauth.validateAuthResponse(server, this.#client, answer, leaving.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      this.#client,
      oauth.None(),
      given,
      callback(),
      leaving.verifier,
      this.#insecure(),
    );
    const expectedNonce = claimsIdToken(this.#settings.scope) ? leaving.nonce : undefined;
    this.#keep(
      await oauth.processAuthorizationCodeResponse(
        server,
        this.#client,
        response,
        expectedNonce ? { expectedNonce } : {},
      ),
    );
    return leaving.from;
  }

  signOut(): void {
    sessionStorage.removeItem(TOKENS);
    this.#tokens = null;
    this.user.value = null;
  }

  async #renew(refresh: string | undefined): Promise<string> {
    if (!refresh) return this.#over();
    const server = await this.#discover();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      this.#client,
      oauth.None(),
      refresh,
      this.#insecure(),
    );
    try {
      return this.#keep(await oauth.processRefreshTokenResponse(server, this.#client, response));
    } catch {
      return this.#over();
    }
  }

  #over(): never {
    this.signOut();
    throw new SignedOut();
  }

  #keep(answer: oauth.TokenEndpointResponse): string {
    const access = claimsOf(answer.access_token);
    const seconds = answer.expires_in ?? 3600;
    this.#tokens = {
      access: answer.access_token,
      until: access.exp ? access.exp * 1000 : Date.now() + seconds * 1000,
      refresh: answer.refresh_token ?? this.#tokens?.refresh,
      name:
        nameOf({ ...access, ...oauth.getValidatedIdTokenClaims(answer) }) ??
        this.#tokens?.name ??
        '',
    };
    sessionStorage.setItem(TOKENS, JSON.stringify(this.#tokens));
    this.user.value = userOf(this.#tokens);
    return this.#tokens.access;
  }

  #discover(): Promise<oauth.AuthorizationServer> {
    this.#server ??= this.#ask().catch((error) => {
      this.#server = null; // the next call tries again
      throw error;
    });
    return this.#server;
  }

  async #ask(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(this.#settings.issuer);
    const response = await oauth.discoveryRequest(issuer, this.#insecure());
    return oauth.processDiscoveryResponse(issuer, response);
  }

  // A provider without https is allowed only on this machine, for development.
  #insecure() {
    const { protocol, hostname } = new URL(this.#settings.issuer);
    const here = protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
    return { [oauth.allowInsecureRequests]: here };
  }
}

const userOf = ({ access, name }: Tokens): User => ({ id: claimsOf(access).sub ?? '', name });

const callback = (): string => location.origin + CALLBACK;

// Without the scope openid there is no id token to carry the nonce.
const claimsIdToken = (scope: string): boolean => scope.split(' ').includes('openid');

function nameOf(claims: Omit<Claims, 'exp'> & { [claim: string]: unknown }): string | undefined {
  return claims.name ?? claims.preferred_username ?? claims.email ?? claims.sub;
}

function load<T>(name: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}
