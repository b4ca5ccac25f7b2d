import { describe, expect, test } from 'vitest';
import { BASE } from '../src/config';
import { invitationIn, linkOf } from '../src/store/link';

const TOKEN = '4CKZQ2W7N5VYQ3XGJH2T6RBMEA';

describe('the link to a shared session', () => {
  test('has its secret in the fragment only, and is read back', () => {
    for (const session of ['s1', 'a session #1?', 'per%cent', 'سلام']) {
      const url = new URL(linkOf({ token: TOKEN, session }));
      expect([url.pathname, url.search]).toEqual([`${BASE}/join`, '']);
      expect(invitationIn(url.hash)).toEqual({ token: TOKEN, session });
    }
  });

  test('may have the token alone', () => {
    expect(invitationIn(`#${TOKEN}`)).toEqual({ token: TOKEN, session: '' });
  });

  test.each([
    '',
    '#',
    '#/',
    '#/s1',
    '#a token',
    `#${'A'.repeat(129)}`,
    `#${TOKEN}/`,
    `#${TOKEN}/%E0`,
  ])('is damaged as %s', (fragment) => expect(invitationIn(fragment)).toBeNull());
});
