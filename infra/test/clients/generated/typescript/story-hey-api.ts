// Tells the story with the client of @hey-api/openapi-ts.

import { createClient } from './hey-api/client/index.js';
import {
  createSession,
  deleteSession,
  forkSession,
  getArtifact,
  getRun,
  getSession,
  getTask,
  getThread,
  listEvents,
  putArtifact,
  type Run,
  rewindSession,
  saveTask,
  startRun,
  updateSession,
} from './hey-api/index.js';
import * as story from './story.js';

const client = createClient({ baseUrl: story.url, auth: story.token });

/** Returns the answer of a request that must succeed. */
function got<T>(res: { data?: T; error?: unknown }): T {
  return story.present(`the answer instead of ${JSON.stringify(res.error)}`, res.data);
}

async function create(): Promise<string> {
  const body = { agent: 'demo', name: 'A story', state: { region: 'EMEA' } };
  const { data } = got(await createSession({ client, body }));
  story.equal('status', data.status, 'idle');
  story.equal('fork', data.fork, null);
  story.done('create');
  return data.id;
}

async function run(session_id: string, text: string): Promise<string> {
  const started = got(
    await startRun({
      client,
      path: { session_id },
      body: { input: [{ content: { role: 'user', parts: [{ text }] } }] },
    }),
  );
  const run_id = story.present('the run', started.data.run).id;
  const ended: Run = await story.poll(
    async () => got(await getRun({ client, path: { session_id, run_id } })).data,
    (read) => read.status !== 'in_progress',
  );
  story.equal('status of the run', ended.status, 'completed');
  story.equal('error of the run', ended.error, null);
  story.equal('the run has ended', typeof ended.ended_time, 'number');
  return run_id;
}

async function thread(session_id: string, first: string): Promise<void> {
  const { data, meta } = got(await getThread({ client, path: { session_id } }));
  story.equal('next cursor', meta.next_cursor, null);
  const [state, asked, reply, ...rest] = data.items;
  story.equal('items after the first run', rest.length, 2);
  story.equal('content of the initial state', state?.content, null);
  story.equal('initial state', state?.actions?.state_delta?.['region'], 'EMEA');
  story.equal('question', asked?.content?.parts?.[0]?.text, story.question);
  story.equal('invocation', reply?.invocation_id, first);
  const call = story.present('the call', reply?.content?.parts?.[1]?.function_call);
  story.equal('function', call.name, 'look_up');
  story.equal('argument', call.args?.['query'], 'weather');
  story.done('thread');
}

async function pages(session_id: string): Promise<void> {
  const seqs: number[] = [];
  let cursor: string | undefined;
  do {
    const page = got(
      await listEvents({ client, path: { session_id }, query: { limit: 3, cursor } }),
    );
    seqs.push(...page.data.map((event) => event.seq));
    cursor = page.meta.next_cursor ?? undefined;
  } while (cursor);
  story.equal('positions', seqs.length, 5);
  story.done('pages');
}

async function task(session_id: string): Promise<void> {
  const saved = got(
    await saveTask({
      client,
      path: { session_id },
      body: {
        task_id: story.taskId,
        user_message: story.question,
        message_bubbles: [
          {
            id: 'b1',
            type: 'agent',
            text: story.remark,
            parts: [{ kind: 'text', text: story.remark }],
          },
        ],
      },
    }),
  );
  story.equal('session of the task', saved.session_id, session_id);
  const read = got(await getTask({ client, path: { session_id, task_id: story.taskId } }));
  story.equal('text', read.message_bubbles[0]?.text, story.remark);
  story.equal('metadata', read.task_metadata, null);
  story.done('task');
}

async function artifact(session_id: string): Promise<void> {
  const path = { session_id, name: story.artifact };
  const put = got(await putArtifact({ client, path, body: new Blob([story.bytes]) }));
  story.equal('size', put.data.size, story.bytes.length);
  const read = got(await getArtifact({ client, path }));
  story.equal('bytes', new Uint8Array(await read.arrayBuffer()), story.bytes);
  story.done('artifact');
}

async function fork(session_id: string, second: string): Promise<void> {
  const body = { rewind_before_invocation_id: second };
  const { data } = got(await forkSession({ client, path: { session_id }, body }));
  story.equal('source', data.fork?.session_id, session_id);
  story.equal('boundary found', data.fork?.boundary_found, true);
  const read = got(await getThread({ client, path: { session_id: data.id } }));
  story.equal('items of the fork', read.data.items.length, 3);
  story.done('fork');
}

async function rewind(session_id: string, second: string): Promise<void> {
  const body = { rewind_before_invocation_id: second };
  const { data } = got(await rewindSession({ client, path: { session_id }, body }));
  story.equal('epoch', data.session.epoch, 1);
  story.equal('marker', data.event.content?.parts?.[0]?.text, 'Session rewound');
  const read = got(await getThread({ client, path: { session_id } }));
  story.equal('items after the rewind', read.data.items.length, 3);
  story.done('rewind');
}

async function update(session_id: string): Promise<void> {
  const { response } = await getSession({ client, path: { session_id } });
  const etag = story.present('ETag', response?.headers.get('ETag'));
  const request = {
    client,
    path: { session_id },
    headers: { 'If-Match': etag },
    body: { name: 'The same story' },
  };
  story.equal('name', got(await updateSession(request)).data.name, 'The same story');
  const refused = await updateSession(request);
  story.equal('status', refused.response?.status, 412);
  story.done('update');
}

async function remove(session_id: string): Promise<void> {
  const { error } = await getSession({ client, path: { session_id: story.unknown } });
  story.equal('problem', error && 'status' in error && error.status, 404);
  const deleted = await deleteSession({ client, path: { session_id } });
  story.equal('deleted', deleted.response?.status, 204);
  story.done('delete');
}

const session = await create();
const first = await run(session, story.question);
const second = await run(session, story.remark);
story.done('run');
await thread(session, first);
await pages(session);
await task(session);
await artifact(session);
await fork(session, second);
await rewind(session, second);
await update(session);
await remove(session);
