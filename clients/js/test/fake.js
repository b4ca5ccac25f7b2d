// A fake API: answers requests from a script and records them.

import { Rethread } from 'rethread';

/** An answer with a JSON body. */
export const json =
  (status, body, headers = {}) =>
  () =>
    new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { 'Content-Type': 'application/json', ...headers },
    });

export const ok = (data, headers) => json(200, { data, meta: { next_cursor: null } }, headers);

export const problem = (status, members, headers) =>
  json(status, { type: 'about:blank', title: 'Fake', status, detail: 'no', ...members }, headers);

/** No answer. */
export const cut = () => {
  throw new TypeError('fetch failed');
};

/** An answer that arrives only when the request is aborted. */
export const silence = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

const url = 'https://api.example';

/** A client of an API that gives each answer once, the last one again and again. */
export function fake(answers, options = {}) {
  const requests = [];
  const fetch = async (to, init) => {
    const request = new Request(to, { ...init, ...(init.body && { duplex: 'half' }) });
    const body = init.body === undefined ? undefined : await new Response(init.body).text();
    const headers = Object.fromEntries(request.headers);
    requests.push({ method: request.method, url: to, path: new URL(to).pathname, headers, body });
    const answer = answers[Math.min(requests.length, answers.length) - 1];
    return answer(init);
  };
  return {
    requests,
    client: new Rethread({
      url,
      streamUrl: url,
      token: 'token',
      fetch,
      random: () => 0,
      ...options,
    }),
  };
}
