import { describe, expect, test } from 'vitest';
import { createApi } from '../src/api/client';
import { errorText } from '../src/api/error';
import { createSession, listSessions } from '../src/api/sessions';
import { FakeAuth, FakeServer, session } from './fakes';

describe('the API client', () => {
  test('renews a rejected token once and sends the body again', async () => {
    const server = new FakeServer();
    server.answer = ({ headers }) =>
      headers.get('Authorization') === 'Bearer second'
        ? [201, { data: session('a') }]
        : [401, { message: 'no' }];
    expect((await createSession(server.api, 'name')).id).toBe('a');
    expect(server.asked.map(({ body }) => body)).toEqual([{ name: 'name' }, { name: 'name' }]);
    const keys = server.asked.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys[0]).toBe(keys[1]);
  });

  test("throws errors with the server's detail", async () => {
    const server = new FakeServer();
    server.answer = () => [
      422,
      { title: 'Unprocessable', status: 422, detail: 'limit is too large' },
    ];
    await expect(listSessions(server.api, {})).rejects.toMatchObject({
      status: 422,
      message: 'limit is too large',
    });
    server.answer = () => [500, { message: 'Internal Server Error' }];
    await expect(listSessions(server.api, {})).rejects.toMatchObject({
      status: 500,
      message: 'Internal Server Error',
    });
  });

  test('reports an unreachable server', async () => {
    const api = createApi(new FakeAuth(), 'ws://watch', async () => {
      throw new TypeError('Failed to fetch');
    });
    const error = await api.artifacts.put('s', 'a', { content: 'x' }).catch((error) => error);
    expect(errorText(error)).toBe('The server cannot be reached.');
    expect(error).toMatchObject({ status: 0 });
  });
});
