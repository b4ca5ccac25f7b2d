// Tokens, retries, time limits and errors.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as rethread from 'rethread';

import { cut, fake, json, ok, problem, silence } from './fake.js';

const session = ok({ id: 's' });
const unauthorized = json(401, { message: 'Unauthorized' });

test('tokens', async (t) => {
  const renewing = () => {
    const asked = [];
    const token = async (request) => {
      asked.push(request);
      return request.rejected ? 'new' : 'old';
    };
    const answer = ({ headers }) =>
      headers.Authorization === 'Bearer new' ? session() : unauthorized();
    return { asked, ...fake([answer], { token }) };
  };

  await t.test('renews a rejected token once and sends the same request again', async () => {
    const { client, asked, requests } = renewing();
    await client.sessions.create({ name: 'n' });
    assert.deepEqual(asked, [{}, { rejected: 'old' }]);
    const [first, second] = requests;
    assert.deepEqual(
      { ...second, headers: { ...second.headers, authorization: 'Bearer old' } },
      first,
    );
  });

  await t.test('asks the source once for calls at the same time', async () => {
    const { client, asked } = renewing();
    await Promise.all([1, 2, 3].map((n) => client.sessions.get(`s${n}`)));
    assert.deepEqual(asked, [{}, { rejected: 'old' }]);
  });

  await t.test('rejects with UnauthorizedError if the renewed token is rejected too', async () => {
    const { client, requests } = fake([unauthorized], { token: ({ rejected }) => `${rejected}+` });
    await assert.rejects(client.sessions.get('s'), rethread.UnauthorizedError);
    assert.equal(requests.length, 2);
  });

  await t.test('does not send the same token twice', async () => {
    const { client, requests } = fake([unauthorized]);
    await assert.rejects(client.sessions.get('s'), { status: 401, message: 'Unauthorized' });
    assert.equal(requests.length, 1);
  });

  await t.test(
    'rejects with what the source throws, and asks it again for the next call',
    async () => {
      let signedIn = false;
      const token = () => {
        if (!signedIn) throw new Error('signed out');
        return 'token';
      };
      const { client, requests } = fake([session], { token });
      await assert.rejects(client.sessions.get('s'), { message: 'signed out' });
      assert.equal(requests.length, 0);
      signedIn = true;
      assert.equal((await client.sessions.get('s')).id, 's');
    },
  );

  await t.test('client.fetch sends a body again with a renewed token', async () => {
    const bodies = [];
    const fetch = async (request) => {
      bodies.push(await request.text());
      return request.headers.get('Authorization') === 'Bearer new' ? session() : unauthorized();
    };
    const token = ({ rejected }) => (rejected ? 'new' : 'old');
    const client = new rethread.Rethread({ url: 'https://api.example', token, fetch });
    const response = await client.fetch('https://api.example/a2a/x', { method: 'POST', body: 'b' });
    assert.equal(response.status, 200);
    assert.deepEqual(bodies, ['b', 'b']);
  });
});

test('retries', async (t) => {
  for (const [name, answer] of Object.entries({
    'a lost answer': cut,
    'a broken body': () => new Response('{"data"', { status: 200 }),
    502: json(502, {}),
    503: json(503, { message: 'Service Unavailable' }),
    504: json(504, {}),
    429: problem(429),
    'a 409 with Retry-After, while the first request is executed': problem(
      409,
      {},
      { 'Retry-After': '0' },
    ),
  })) {
    await t.test(`repeats a write after ${name}`, async () => {
      const { client, requests } = fake([answer, answer, session]);
      assert.equal((await client.sessions.create()).id, 's');
      assert.equal(requests.length, 3);
    });
  }

  for (const status of [400, 403, 404, 409, 412, 413, 422, 500]) {
    await t.test(`does not repeat after ${status}`, async () => {
      const { client, requests } = fake([problem(status)]);
      await assert.rejects(client.sessions.create(), { status });
      assert.equal(requests.length, 1);
    });
  }

  await t.test('gives up after five attempts', async () => {
    const { client, requests } = fake([cut]);
    await assert.rejects(client.sessions.get('s'), rethread.ConnectionError);
    assert.equal(requests.length, 5);
  });

  await t.test('waits for a random part of a doubling time', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    const { client, requests } = fake([cut], { random: () => 0.5 });
    const call = assert.rejects(client.sessions.get('s'));
    for (const [i, delay] of [125, 250, 500, 1000].entries()) {
      await settled();
      t.mock.timers.tick(delay - 1);
      await settled();
      assert.equal(requests.length, i + 1);
      t.mock.timers.tick(1);
    }
    await call;
    assert.equal(requests.length, 5);
  });

  for (const [form, header] of [
    ['seconds', '7'],
    ['a date', new Date(7000).toUTCString()],
  ]) {
    await t.test(`waits as long as Retry-After says, in ${form}`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
      const { client, requests } = fake([problem(429, {}, { 'Retry-After': header }), session]);
      const call = client.sessions.get('s');
      await settled();
      t.mock.timers.tick(6999);
      await settled();
      assert.equal(requests.length, 1);
      t.mock.timers.tick(1);
      assert.equal((await call).id, 's');
    });
  }

  await t.test('rejects at once if Retry-After is after the time limit', async () => {
    const { client, requests } = fake([problem(429, {}, { 'Retry-After': '61' })]);
    const expected = { name: 'RateLimitedError', status: 429, retryAfter: 61_000 };
    await assert.rejects(client.sessions.get('s'), expected);
    assert.equal(requests.length, 1);
  });
});

test('time limits', async (t) => {
  await t.test(
    'repeats an attempt without an answer, within the time limit of the call',
    async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
      const { client, requests } = fake([silence]);
      const call = assert.rejects(client.sessions.get('s'), rethread.TimeoutError);
      await settled();
      t.mock.timers.tick(30_000);
      await settled(50);
      t.mock.timers.tick(0);
      await settled(50);
      assert.equal(requests.length, 2);
      t.mock.timers.tick(30_000);
      await call;
      assert.equal(requests.length, 2);
    },
  );

  await t.test('a call has its own time limit, which includes the token', async () => {
    const { client, requests } = fake([session], { token: () => new Promise(() => {}) });
    await assert.rejects(client.sessions.get('s', { timeout: 5 }), rethread.TimeoutError);
    assert.equal(requests.length, 0);
  });

  await t.test('a signal aborts a request', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { client } = fake([silence]);
    const call = client.sessions.get('s', { signal: controller.signal });
    setTimeout(() => controller.abort(reason));
    await assert.rejects(call, reason);
  });

  await t.test('a signal aborts the wait before a retry', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { client, requests } = fake([problem(429, {}, { 'Retry-After': '30' })]);
    const call = client.sessions.get('s', { signal: controller.signal });
    await settled(50);
    controller.abort(reason);
    await assert.rejects(call, reason);
    assert.equal(requests.length, 1);
  });

  await t.test('an aborted signal sends nothing', async () => {
    const { client, requests } = fake([session]);
    await assert.rejects(client.sessions.get('s', { signal: AbortSignal.abort() }), {
      name: 'AbortError',
    });
    assert.equal(requests.length, 0);
  });

  await t.test('leaves no listener on a signal', async () => {
    const listeners = [];
    const { signal } = new AbortController();
    signal.addEventListener = (_, listener) => listeners.push(listener);
    signal.removeEventListener = (_, listener) => listeners.splice(listeners.indexOf(listener), 1);
    const { client } = fake([cut, session, cut]);
    await client.sessions.get('s', { signal });
    await assert.rejects(client.sessions.get('s', { signal }));
    assert.deepEqual(listeners, []);
  });

  await t.test(
    'the body of an export is read after the call, until the signal aborts',
    async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
      let sent;
      const { client } = fake([
        ({ signal }) => {
          sent = signal;
          return new Response('{"complete": true}');
        },
      ]);
      const controller = new AbortController();
      const response = await client.sessions.export('s', { signal: controller.signal });
      t.mock.timers.tick(100_000);
      assert.equal(sent.aborted, false);
      assert.deepEqual(await response.json(), { complete: true });
      controller.abort();
      assert.equal(sent.aborted, true);
    },
  );
});

test('errors', async (t) => {
  const classes = {
    400: rethread.ValidationError,
    403: rethread.ForbiddenError,
    404: rethread.NotFoundError,
    409: rethread.ConflictError,
    412: rethread.PreconditionFailedError,
    422: rethread.ValidationError,
    429: rethread.RateLimitedError,
    500: rethread.RethreadError,
    503: rethread.UnavailableError,
  };
  for (const [status, Class] of Object.entries(classes)) {
    await t.test(`${status} is a ${Class.name}`, async () => {
      const { client } = fake([problem(Number(status))]);
      const error = await client.sessions.get('s').catch((error) => error);
      assert.equal(error.constructor, Class);
      assert.equal(error.name, Class.name);
      assert.ok(error instanceof rethread.RethreadError && error instanceof Error);
    });
  }

  await t.test('has all that the problem says', async () => {
    const errors = [{ pointer: '/name', detail: 'too long' }];
    const members = {
      type: 'https://x/y',
      title: 'T',
      detail: 'D',
      errors,
      request_id: 'r',
      extra: 1,
    };
    const { client } = fake([problem(422, members)]);
    const error = await client.sessions.get('s').catch((error) => error);
    const { status, type, title, detail, requestId, message, problem: body } = error;
    assert.deepEqual(
      { status, type, title, detail, errors: error.errors, requestId, message, extra: body.extra },
      {
        status: 422,
        type: 'https://x/y',
        title: 'T',
        detail: 'D',
        errors,
        requestId: 'r',
        message: 'D',
        extra: 1,
      },
    );
  });

  await t.test('a conflict names what is in the way', async () => {
    const { client } = fake([problem(409, { run_id: 'r', head_seq: 0, event_id: 'e' })]);
    const { runId, headSeq, eventId } = await client.sessions.get('s').catch((error) => error);
    assert.deepEqual({ runId, headSeq, eventId }, { runId: 'r', headSeq: 0, eventId: 'e' });
  });

  await t.test('an answer without JSON is an error with its status', async () => {
    const { client } = fake([() => new Response('<html>', { status: 413 })]);
    await assert.rejects(client.sessions.get('s'), {
      status: 413,
      message: 'The server answered 413.',
    });
  });

  await t.test('no answer is a ConnectionError with its cause', async () => {
    const { client } = fake([cut]);
    const error = await client.artifacts.put('s', 'a', { content: 'x' }).catch((error) => error);
    assert.equal(error.status, 0);
    assert.equal(error.cause.message, 'fetch failed');
  });
});

test('requests', async (t) => {
  await t.test(
    'a dry run is repeated without a key, which would have its answer stored',
    async () => {
      const { client, requests } = fake([cut, session]);
      await client.sessions.rewind('s', { rewind_before_invocation_id: 'i', dry_run: true });
      await client.sessions.fork('s', { dry_run: true });
      await client.sessions.fork('s', {});
      const keys = requests.map(({ headers }) => 'idempotency-key' in headers);
      assert.deepEqual(keys, [false, false, false, true]);
    },
  );

  await t.test('escapes ids and names', async () => {
    const { client, requests } = fake([session]);
    await client.artifacts.get('a/b?c', 'ü #1.txt');
    assert.equal(
      requests[0].url,
      'https://api.example/api/v1/sessions/a%2Fb%3Fc/artifacts/%C3%BC%20%231.txt',
    );
  });

  await t.test('leaves undefined members of a query out', async () => {
    const { client, requests } = fake([ok([])]);
    await client.sessions.list({ q: undefined, agent: 'x y', limit: 5 });
    assert.equal(requests[0].url, 'https://api.example/api/v1/sessions?agent=x+y&limit=5');
  });

  await t.test('compresses an artifact that is larger than a request', async () => {
    const { client, requests } = fake([ok({ version: 0 })]);
    await client.artifacts.put('s', 'small', { content: 'x' });
    await client.artifacts.put('s', 'large', {
      content: new Blob(['x'.repeat(5 << 20)], { type: 'text/x' }),
    });
    const sent = requests.map(({ headers, body }) => [
      headers['content-type'],
      headers['content-encoding'],
      body.length,
    ]);
    assert.deepEqual(sent[0], ['text/plain; charset=utf-8', undefined, 1]);
    assert.deepEqual(sent[1].slice(0, 2), ['text/x', 'gzip']);
    assert.ok(sent[1][2] < 100_000, `${sent[1][2]} bytes`);
  });

  await t.test('compresses a text by its bytes, not by its characters', async () => {
    const { client, requests } = fake([ok({}), ok({})]);
    const named = (text) => client.sessions.create({ name: text });
    const frame = JSON.stringify({ name: '' }).length;
    await named('x'.repeat((4 << 20) - frame));
    await named('é'.repeat((2 << 20) + 1));
    await named('€'.repeat(1 << 20));
    const encodings = requests.map(({ headers }) => headers['content-encoding']);
    assert.deepEqual(encodings, [undefined, 'gzip', undefined]);
    assert.equal(requests[0].body.length, 4 << 20);
  });

  await t.test('passes the response to onResponse, for its headers', async () => {
    const { client } = fake([ok({ id: 's' }, { ETag: '"7"' })]);
    let etag;
    await client.sessions.get('s', {
      onResponse: ({ headers }) => {
        etag = headers.get('ETag');
      },
    });
    assert.equal(etag, '"7"');
  });

  await t.test(
    'reads exports and agents from their own address, and tasks of A2A beside the API',
    async () => {
      const { client, requests } = fake([ok([])], { streamUrl: 'https://streams.example/api/v1/' });
      await client.sessions.export('s');
      await client.a2a.tasks('s');
      await client.a2a.card('team/agent');
      await client.a2a.card();
      await client.a2a.keys();
      assert.deepEqual(
        requests.map(({ url }) => url),
        [
          'https://streams.example/api/v1/sessions/s/export',
          'https://api.example/api/sessions/s/tasks',
          'https://streams.example/a2a/team~agent/.well-known/agent-card.json',
          'https://streams.example/.well-known/agent-card.json',
          'https://streams.example/a2a/.well-known/jwks.json',
        ],
      );
    },
  );
});

test('lists', async (t) => {
  const pages = (...cursors) =>
    cursors.map((next_cursor, i) => json(200, { data: [`${i}a`, `${i}b`], meta: { next_cursor } }));

  await t.test('iterate over the entries of all pages', async () => {
    const { client, requests } = fake(pages('c1', 'c2', null));
    const found = [];
    for await (const entry of client.events.list('s', { limit: 2 })) found.push(entry);
    assert.deepEqual(found, ['0a', '0b', '1a', '1b', '2a', '2b']);
    const queries = requests.map(({ url }) => new URL(url).search);
    assert.deepEqual(queries, ['?limit=2', '?limit=2&cursor=c1', '?limit=2&cursor=c2']);
  });

  await t.test('read no page that is not used', async () => {
    const { client, requests } = fake(pages('c1', null));
    for await (const page of client.events.list('s').pages()) {
      assert.equal(page.next_cursor, 'c1');
      break;
    }
    assert.equal(requests.length, 1);
  });

  await t.test('return the page at a cursor when awaited', async () => {
    const { client, requests } = fake(pages(null));
    const page = await client.events.list('s', { cursor: 'c' });
    assert.deepEqual(page, { data: ['0a', '0b'], next_cursor: null });
    assert.equal(new URL(requests[0].url).search, '?cursor=c');
  });

  await t.test('of tasks, feedback and messages have the same form', async () => {
    const next_cursor = null;
    const { client } = fake([
      json(200, { tasks: [1], next_cursor: 'c' }),
      json(200, { tasks: [2], next_cursor }),
      json(200, { feedback: [3], next_cursor }),
      json(200, [4], { 'X-Next-Cursor': 'c' }),
      json(200, [5]),
    ]);
    assert.deepEqual(await client.tasks.list('s').all(), [1, 2]);
    assert.deepEqual(await client.feedback.list().all(), [3]);
    assert.deepEqual(await client.messages.list('s').all(), [4, 5]);
  });

  await t.test('reject when a page cannot be read', async () => {
    const { client } = fake([...pages('c1'), problem(409)]);
    await assert.rejects(client.events.list('s').all(), rethread.ConflictError);
    await assert.rejects(async () => client.events.list('s'), rethread.ConflictError);
  });
});

test('imports', async () => {
  const progress = { import_id: 'i', session_id: 's', next_part: 2 };
  const { client, requests } = fake([
    json(202, { data: progress }),
    json(201, { data: { id: 's' }, meta: { kept: ['user:k'] } }),
  ]);
  assert.deepEqual(await client.imports.start({}, { id: 's' }), { complete: false, progress });
  const done = await client.imports.part('i', 2, {});
  assert.deepEqual(done, { complete: true, session: { id: 's' }, kept: ['user:k'] });
  assert.equal(requests[0].url, 'https://api.example/api/v1/sessions/import?id=s');
});

async function settled(turns = 20) {
  for (let i = 0; i < turns; i++) await new Promise((done) => setImmediate(done));
}

test('a service acts for a user', async () => {
  const { client, requests } = fake([session, session], { user: 'auth0|ä' });
  await client.sessions.get('s');
  await client.withUser('bob').sessions.get('s');
  assert.deepEqual(
    requests.map(({ headers }) => headers['rethread-user'] ?? headers['Rethread-User']),
    ['auth0%7C%C3%A4', 'bob'],
  );
});
