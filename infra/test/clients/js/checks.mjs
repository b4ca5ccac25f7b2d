// Checks that are counted, and what every story needs of the system.
import {readFileSync} from 'node:fs';

export const url = process.env.RETHREAD_URL;
export const agent = `${url}/a2a/scripted`;

// snippet returns a function with the JavaScript of a page of docs, which finds its
// parameters and returns the variable of that name.
export function snippet(page, result, ...parameters) {
  const text = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');
  return program(text, result, parameters);
}

// readme is like snippet for the section with a heading of the npm package's README.
export function readme(heading, result, ...parameters) {
  const text = readFileSync(new URL('../../../../clients/js/README.md', import.meta.url), 'utf8');
  return program(text.split(`## ${heading}\n`)[1], result, parameters);
}

function program(text, result, parameters) {
  const code = text.split('```js\n')[1].split('```')[0].replace(/^import .*$/gm, '');
  const AsyncFunction = (async () => {}).constructor;
  return new AsyncFunction(...parameters, `${code}\nreturn ${result};`);
}

let made = 0;
const failed = [];

export function check(what, passed, ...shown) {
  made++;
  if (!passed) failed.push(`${what}: ${shown.map((s) => JSON.stringify(s)).join(' ')}`);
}

export async function throws(what, call) {
  try {
    check(what, false, 'no error, but', await call());
  } catch (error) {
    check(what, error instanceof Error, error);
    return error;
  }
}

export async function part(what, play) {
  try {
    await play();
  } catch (error) {
    failed.push(`${what}: ${error.stack}`);
  }
}

export async function signedIn() {
  const answer = await fetch(`${url}/dev/token`, {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({user_id: `user-${crypto.randomUUID()}`}),
  });
  const {token} = await answer.json();
  return (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(input, {...init, headers});
  };
}

export function end() {
  for (const failure of failed) console.log('FAIL', failure);
  console.log(`checks: ${made}`);
  process.exit(failed.length ? 1 : 0);
}
