// Push notifications of A2A: the tasks of a session that were begun over this protocol, and the
// addresses that are notified of each (https://a2a-protocol.org, version 1.0 over HTTP+JSON).

import { RethreadError } from 'rethread';
import type { Api } from './client';

/** A task of a session that was begun over A2A. Its id is that of its first invocation. */
export interface A2ATask {
  id: string;
  /** The state as in `TASK_STATE_WORKING`, without the prefix and in small letters. */
  state: string;
  /** When it took this state, in epoch milliseconds; null if unknown. */
  time: number | null;
  /** The text that began it; '' if there is none. */
  question: string;
}

/** An address that is notified of a task. Credentials are never answered. */
export interface Notified {
  id: string;
  url: string;
  token: string;
  scheme: string;
}

export interface NewNotified {
  url: string;
  token: string;
  scheme: string;
  credentials: string;
}

interface Wire {
  id?: string;
  url?: string;
  token?: string;
  authentication?: { scheme?: string };
}

interface WireTask {
  id: string;
  status?: { state?: string; timestamp?: string };
  history?: { role?: string; parts?: { text?: string }[] }[];
}

const TASKS = '/a2a/{}/tasks';
const CONFIGS = `${TASKS}/{}/pushNotificationConfigs`;
const PAGE = 5; // tasks, with their messages

/** A page of the tasks of a session that an agent has, the newest first. */
export async function listA2ATasks(api: Api, agent: string, session: string, cursor = '') {
  const query = { contextId: session, pageSize: PAGE, ...(cursor && { pageToken: cursor }) };
  const page = (await send(api, 'GET', TASKS, [agent], { query })) as {
    tasks?: WireTask[];
    nextPageToken?: string;
  };
  return { data: (page.tasks ?? []).map(taskOf), next_cursor: page.nextPageToken || null };
}

export async function listNotified(api: Api, agent: string, task: string): Promise<Notified[]> {
  const { configs = [] } = (await send(api, 'GET', CONFIGS, [agent, task])) as { configs?: Wire[] };
  return configs.map(({ id = '', url = '', token = '', authentication }) => ({
    id,
    url,
    token,
    scheme: authentication?.scheme ?? '',
  }));
}

/** Adds an address. The same address again replaces what is sent with it. */
export async function addNotified(
  api: Api,
  agent: string,
  task: string,
  { url, token, scheme, credentials }: NewNotified,
): Promise<void> {
  const json = {
    url,
    ...(token && { token }),
    ...((scheme || credentials) && { authentication: { scheme, credentials } }),
  };
  await send(api, 'POST', CONFIGS, [agent, task], { json });
}

export async function removeNotified(
  api: Api,
  agent: string,
  task: string,
  id: string,
): Promise<void> {
  await send(api, 'DELETE', `${CONFIGS}/{}`, [agent, task, id]);
}

type Method = 'GET' | 'POST' | 'DELETE';

// The same request again changes nothing, so all are safe to repeat.
async function send(
  api: Api,
  method: Method,
  path: string,
  [agent = '', ...params]: string[],
  body: { query?: object; json?: unknown } = {},
): Promise<unknown> {
  const headers = { 'A2A-Version': '1.0' };
  const named = [agent.replace('/', '~'), ...params];
  try {
    const call = { method, path, params: named, headers, ...body };
    const response = await api.streams.request(call);
    return await response.json();
  } catch (error) {
    throw error instanceof RethreadError ? withFields(error) : error;
  }
}

interface Status {
  message?: string;
  details?: { fieldViolations?: { field?: string; description?: string }[] }[];
}

/** The error with the fields that the protocol's answer names, as other errors of the API have them. */
function withFields(error: RethreadError): RethreadError {
  const status = error.problem.error as Status | undefined;
  if (!status) return error;
  const errors = (status.details ?? [])
    .flatMap(({ fieldViolations = [] }) => fieldViolations)
    .map(({ field = '', description = '' }) => ({
      pointer: `/${field.replaceAll('.', '/')}`,
      detail: description,
    }));
  const Class = error.constructor as typeof RethreadError;
  const problem = { ...error.problem, detail: status.message ?? '', errors };
  return new Class(error.status, { problem, retryAfter: error.retryAfter });
}

function taskOf({ id, status, history = [] }: WireTask): A2ATask {
  const asked = history.find(({ role }) => role === 'ROLE_USER')?.parts ?? [];
  const time = Date.parse(status?.timestamp ?? '');
  return {
    id,
    state: (status?.state ?? '').replace(/^TASK_STATE_/, '').toLowerCase(),
    time: Number.isNaN(time) ? null : time,
    question: asked.flatMap(({ text }) => text ?? []).join(' '),
  };
}
