// Uses the package in an edge runtime, which has no module of Node.js; returns what happened as JSON.

import { NotFoundError, Rethread, ValidationError } from 'rethread';

export async function run(url, WebSocket) {
  const asked = [];
  const client = new Rethread({
    url,
    wsUrl: url.replace('http', 'ws'),
    token: ({ rejected }) => {
      asked.push(rejected ?? '');
      return rejected ? 'new' : 'old';
    },
    random: () => 0,
    environment: { WebSocket },
  });
  const out = {};
  out.created = (await client.sessions.create({ name: 'x'.repeat(5 << 20) })).id;
  out.ids = (await client.sessions.list().all()).map(({ id }) => id);
  const failed = (promise) => promise.catch((error) => error);
  const missing = await failed(client.sessions.get('missing'));
  out.missing = [missing instanceof NotFoundError, missing.name, missing.status];
  const invalid = await failed(client.sessions.update('s', { name: 1 }));
  out.invalid = [invalid instanceof ValidationError, invalid.errors[0].pointer];
  const late = await failed(client.sessions.get('late', { timeout: 50 }));
  out.late = late.name;
  const reason = new Error('enough');
  const stopped = AbortSignal.abort(reason);
  out.aborted = (await failed(client.sessions.get('s', { signal: stopped }))) === reason;
  out.live = await new Promise((resolve, reject) => {
    const watching = client.watch('s', {
      onChange: ({ items }) => {
        if (items.length < 2) return;
        watching.close();
        resolve(items.map(({ content }) => content.parts[0].text));
      },
      onEnd: reject,
    });
  });
  out.renewed = asked.includes('old');
  client.close();
  return JSON.stringify(out);
}
