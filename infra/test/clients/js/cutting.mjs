// What the stories of the npm package's entries for front ends share.

import {Rethread} from '../../../../clients/js/dist/index.js';

import {url} from './checks.mjs';

export async function tokenOf(user_id, expires_in = 3600) {
  const headers = {'Content-Type': 'application/json'};
  const answer = await fetch(`${url}/dev/token`, {method: 'POST', headers, body: JSON.stringify({user_id, expires_in})});
  return (await answer.json()).token;
}

// connect returns a client of a new user, and its network: cut() breaks the streams that are open,
// and refuse(n) the next n requests.
export async function connect(userId = `user-${crypto.randomUUID()}`, source) {
  const token = source ?? await tokenOf(userId);
  const open = new Set();
  const network = {requests: [], refused: 0, open};
  network.cut = () => {
    for (const cut of open) cut(new TypeError('terminated'));
  };
  const client = new Rethread({url, token, fetch: async (input, init) => {
    network.requests.push(`${init?.method ?? 'GET'} ${new URL(input.url ?? input).pathname}`);
    if (network.refused > 0) {
      network.refused--;
      throw new TypeError('fetch failed');
    }
    const response = await fetch(input, init);
    if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) return response;
    return new Response(breakable(response.body, open), response);
  }});
  return {client, network, userId};
}

function breakable(body, open) {
  const reader = body.getReader();
  return new ReadableStream({
    start(controller) {
      const cut = (error) => {
        open.delete(cut);
        controller.error(error);
        void reader.cancel();
      };
      open.add(cut);
      this.done = () => open.delete(cut);
    },
    async pull(controller) {
      const {done, value} = await reader.read().catch(() => ({done: true}));
      if (!done) return controller.enqueue(value);
      this.done();
      try {
        controller.close();
      } catch {} // it was cut
    },
    cancel(reason) {
      this.done();
      return reader.cancel(reason);
    },
  });
}

export async function until(what, condition) {
  for (let tries = 0; tries < 1200; tries++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`never: ${what}`);
}
