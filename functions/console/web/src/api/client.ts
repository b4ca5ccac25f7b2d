// The one way to the API: typed by its contract, with the caller's token, errors thrown.

import createClient, { type Client } from 'openapi-fetch';
import type { Auth } from '../auth/auth';
import { apiUrl } from '../config';
import { errorOf, unreachable } from './error';
import type { paths } from './schema';

export type Api = Client<paths>;

export function createApi(auth: Auth, fetch = globalThis.fetch.bind(globalThis)): Api {
  return createClient<paths>({ baseUrl: apiUrl(), fetch: authorized(auth, fetch) });
}

/** Sends with a token; one that is refused is renewed once, then the person has to sign in. */
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

/** The body of an answer; every other outcome is thrown as an ApiError. */
export async function body<T>(
  asked: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await asked;
  if (!response.ok) throw errorOf(response, error);
  return data as T;
}

/** Makes a POST that creates something safe to repeat. */
export const once = (key = uid()): { 'Idempotency-Key': string } => ({ 'Idempotency-Key': key });

/** An id that nobody else has. Unlike crypto.randomUUID it needs no https. */
export function uid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
