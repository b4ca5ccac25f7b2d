import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SignedOut } from '../src/auth/auth';
import { DevAuth } from '../src/auth/dev';
import { claimsOf } from '../src/auth/jwt';

const token = (sub: string, exp: number) => `h.${btoa(JSON.stringify({ sub, exp }))}.s`;
const later = () => Date.now() / 1000 + 3600;

let answers: [number, unknown][];

beforeEach(() => {
  localStorage.clear();
  answers = [];
  vi.stubGlobal(
    'fetch',
    vi.fn(async () => {
      const [status, body] = answers.shift() ?? [500, {}];
      return new Response(JSON.stringify(body), { status });
    }),
  );
});

afterEach(() => vi.unstubAllGlobals());

describe('a development user', () => {
  test('signs in by name and stays signed in after a reload', async () => {
    answers = [[200, { token: token('bob', later()) }]];
    await new DevAuth('/dev/token').signIn('bob');
    expect(new DevAuth('/dev/token').user.value).toEqual({ id: 'bob', name: 'bob' });
  });

  test('reuses a fresh token and shares one request for it', async () => {
    const fresh = token('bob', later());
    answers = [
      [200, { token: token('bob', 0) }],
      [200, { token: fresh }],
    ];
    const auth = new DevAuth('/dev/token');
    await auth.signIn('bob');
    expect(await Promise.all([auth.token(), auth.token()])).toEqual([fresh, fresh]);
    expect(await auth.token()).toBe(fresh);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('gets another token when one is rejected', async () => {
    const [first, second] = [token('bob', later()), token('bob', later() + 1)];
    answers = [
      [200, { token: first }],
      [200, { token: second }],
    ];
    const auth = new DevAuth('/dev/token');
    await auth.signIn('bob');
    expect(await auth.token(first)).toBe(second);
  });

  test('has no token after signing out', async () => {
    answers = [[200, { token: token('bob', later()) }]];
    const auth = new DevAuth('/dev/token');
    await auth.signIn('bob');
    auth.signOut();
    await expect(auth.token()).rejects.toBeInstanceOf(SignedOut);
    expect(new DevAuth('/dev/token').user.value).toBeNull();
  });

  test('gets the reason of a failed sign-in', async () => {
    answers = [[400, { message: 'send a name' }]];
    await expect(new DevAuth('/dev/token').signIn('')).rejects.toThrow('send a name');
  });
});

test('claimsOf decodes UTF-8 and returns no claims for an invalid token', () => {
  const payload = btoa(String.fromCharCode(...new TextEncoder().encode('{"sub":"Jörg 東"}')));
  expect(claimsOf(`h.${payload.replace(/\+/g, '-').replace(/\//g, '_')}.s`).sub).toBe('Jörg 東');
  expect(claimsOf('opaque')).toEqual({});
});
