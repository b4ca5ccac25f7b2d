// The API client: typed by the contract, adds the user's token, throws errors.

import createClient, { type Client } from 'openapi-fetch';
import type { Auth } from '../auth/auth';
import { apiUrl } from '../config';
import { errorOf, unreachable } from './error';
import type { paths } from './schema';

export type Api = Client<paths>;

export function createApi(auth: Auth, fetch = globalThis.fetch.bind(globalThis)): Api {
  return createClient<paths>({ baseUrl: apiUrl(), fetch: authorized(auth, fetch) });
}

/** Adds the token to requests. A rejected token is renewed once; after that the user must sign in. */
function authorized(auth: Auth, fetch: typeof globalThis.fetch) {
  return async (request: Request): Promise<Response> => {
    const send = (token: string) => {
      const copy = request.clone(); // a body can be sent only once
      copy.headers.set('Authorization', `Bearer ${token}`);
      return fetch(copy);
    };
    try {
      const token = await auth.token();
      const response = await send(token);
      return response.status === 401 ? await send(await auth.token(token)) : response;
    } catch (error) {
      if (error instanceof TypeError) throw unreachable();
      throw error;
    }
  };
}

/** The body of a successful response; any other outcome is thrown as an ApiError. */
export async function body<T>(
  asked: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await asked;
  if (!response.ok) throw errorOf(response, error);
  return data as T;
}

/** The header that makes a creating POST safe to repeat. */
export const once = (key = uid()): { 'Idempotency-Key': string } => ({ 'Idempotency-Key': key });

/** A unique id. Unlike crypto.randomUUID it works without https. */
export function uid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
