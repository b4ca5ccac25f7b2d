import { beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../src/api/types';
import { rightsOf } from '../src/store/rights';
import { FakeServer, fakeChat, session } from './fakes';

const own = { mine: true, write: true, own: true, audit: true };
const writer = { mine: false, write: true, own: false, audit: false };
const reader = { mine: false, write: false, own: false, audit: false };

test.each([
  [undefined, own],
  ['write', writer],
  ['read', reader],
  ['admin', { ...reader, audit: true }],
] as const)('a session with access %s gives these rights', (access, rights) => {
  expect(rightsOf(session('s1', access && { access }))).toEqual(rights);
});

describe('the rights in a chat', () => {
  let server: FakeServer;
  let stored: Partial<Session>;

  beforeEach(() => {
    server = new FakeServer();
    stored = { access: 'write' };
    server.answer = ({ path }) =>
      path.endsWith('/runs')
        ? [403, { status: 403, detail: 'You may only read this session' }]
        : [200, { data: session('s1', stored) }];
  });

  const settled = () => new Promise((resolve) => setTimeout(resolve));

  test('are none until the session is loaded', async () => {
    const { chat } = fakeChat(server);
    expect(chat.rights.value).toEqual({ mine: null, write: false, own: false, audit: false });
    await settled();
    expect(chat.rights.value).toEqual(writer);
  });

  test('are read again when another share takes over', async () => {
    const { chat, regranted } = fakeChat(server);
    await settled();
    stored = { access: 'read' };
    regranted();
    await settled();
    expect(chat.rights.value).toEqual(reader);
  });

  test('are read again when an action is refused', async () => {
    const { chat } = fakeChat(server);
    await settled();
    stored = { access: 'read' };
    expect(await chat.send('Why?')).toBe(false);
    await settled();
    expect(chat.rights.value).toEqual(reader);
  });

  test('end with the access, also when no message says so', async () => {
    const { chat, show } = fakeChat(server);
    show({ items: [] });
    await settled();
    server.answer = () => [403, { status: 403 }];
    expect(await chat.send('Why?')).toBe(false);
    await settled();
    expect([chat.gone.value, chat.ended.value]).toEqual([403, 'revoked']);
  });

  test('are read once the chat is live if the session could not be read before', async () => {
    server.answer = () => [403, { status: 403 }];
    const { chat, live } = fakeChat(server);
    await settled();
    expect(chat.rights.value.mine).toBeNull();
    server.answer = () => [200, { data: session('s1') }];
    live();
    await settled();
    expect(chat.rights.value).toEqual(own);
  });
});
