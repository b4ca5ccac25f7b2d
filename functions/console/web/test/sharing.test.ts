import { beforeEach, describe, expect, test } from 'vitest';
import type { Share } from '../src/api/types';
import { Sharing } from '../src/store/sharing';
import { type Answer, type Asked, FakeServer } from './fakes';

let server: FakeServer;
let stored: Share[];
let sharing: Sharing;
let tokens: string[]; // of the links that will be created; '' for an answer without one

beforeEach(() => {
  server = new FakeServer();
  stored = [];
  tokens = ['ABC', 'DEF'];
  server.answer = answer;
  sharing = new Sharing(server.api, 's1');
});

let made = 0;

function answer({ method, path, body }: Asked): Answer {
  if (method === 'GET') return [200, { data: stored, meta: { next_cursor: null } }];
  if (method === 'DELETE') {
    stored = stored.filter(({ id }) => !path.endsWith(`/${id}`));
    return [204];
  }
  const { access, user_id: user = null } = body as Pick<Share, 'access' | 'user_id'>;
  const share: Share = {
    id: `share-${++made}`,
    session_id: 's1',
    kind: user ? 'user' : 'link',
    user_id: user,
    access,
    created_time: 1,
    expires_time: null,
  };
  stored = [...stored, share];
  const token = user ? '' : tokens.shift();
  return [201, { data: { ...share, ...(token && { token }) } }];
}

const shown = () => sharing.list.value?.map(({ user_id, access }) => [user_id, access]);
const asked = (method: string) => server.asked.filter((one) => one.method === method);
const read = { access: 'read', life: null } as const;

describe('the shares of a session', () => {
  test('are listed with the newest first', async () => {
    for (const user of ['bob', 'eve']) await sharing.share({ ...read, user });
    await sharing.read();
    expect(shown()).toEqual([
      ['eve', 'read'],
      ['bob', 'read'],
    ]);
  });

  test('are shown before the list is read again, and have the chosen end', async () => {
    await sharing.share({ access: 'write', user: 'bob', life: 3600 });
    expect(shown()).toEqual([['bob', 'write']]);
    expect(asked('POST')[0]?.body).toEqual({ access: 'write', user_id: 'bob', expires_in: 3600 });
  });

  test('are one a user: another one replaces it, after it is in force', async () => {
    await sharing.share({ ...read, access: 'write', user: 'bob' });
    await sharing.share({ ...read, user: 'bob' });
    expect(shown()).toEqual([['bob', 'read']]);
    expect(stored.map(({ access }) => access)).toEqual(['read']);
    expect(server.asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE']);
  });

  test('stay listed if one cannot be revoked', async () => {
    await sharing.share({ ...read, user: 'bob' });
    server.answer = () => [404, { status: 404, detail: 'gone' }];
    const [share] = sharing.list.value ?? [];
    await expect(share && sharing.revoke(share)).rejects.toThrow('gone');
    expect(shown()).toEqual([['bob', 'read']]);
  });

  test('are as they were changed last, even if an older read is answered later', async () => {
    let late = () => {};
    server.answer = (request) =>
      request.method === 'GET'
        ? new Promise<Answer>((done) => {
            late = () => done([200, { data: [], meta: { next_cursor: null } }]);
          })
        : answer(request);
    const reading = sharing.read();
    await sharing.share({ ...read, user: 'bob' });
    late();
    await reading;
    expect(shown()).toEqual([['bob', 'read']]);
  });
});

describe('a new link', () => {
  test('is shown once, and its secret is not kept in the list', async () => {
    await sharing.share({ ...read, user: '' });
    expect(sharing.link.value?.url).toMatch(/\/join#ABC\/s1$/);
    expect(sharing.list.value?.[0]).not.toHaveProperty('token');
    const [share] = sharing.list.value ?? [];
    if (share) await sharing.revoke(share);
    expect([sharing.link.value, stored]).toEqual([null, []]);
  });

  test('leaves other links as they are', async () => {
    await sharing.share({ ...read, user: '' });
    await sharing.share({ ...read, user: '' });
    expect(stored.length).toBe(2);
  });

  test('whose secret was lost with an answer is revoked, and another one is created', async () => {
    tokens = ['', 'DEF'];
    await sharing.share({ ...read, user: '' });
    expect(sharing.link.value?.url).toContain('#DEF/');
    expect(stored.length).toBe(1);
    const keys = asked('POST').map(({ headers }) => headers.get('Idempotency-Key'));
    expect(new Set(keys).size).toBe(2);
  });

  test('that is lost twice is an error, and leaves no share', async () => {
    tokens = ['', ''];
    await expect(sharing.share({ ...read, user: '' })).rejects.toThrow('lost');
    expect([stored, sharing.link.value]).toEqual([[], null]);
  });
});
