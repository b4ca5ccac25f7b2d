// Tells the story with the TypeScript client of openapi-generator (typescript-fetch).

import {
  ArtifactsApi,
  BubbleTypeEnum,
  Configuration,
  EventsApi,
  ForksApi,
  ResponseError,
  RewindApi,
  type Run,
  RunStatus,
  RunsApi,
  SessionStatus,
  SessionsApi,
  TasksApi,
} from './openapi-generator/index.js';
import * as story from './story.js';

const config = new Configuration({ basePath: story.url, accessToken: story.token });
const sessions = new SessionsApi(config);
const runs = new RunsApi(config);

async function create(): Promise<string> {
  const { data } = await sessions.createSession({
    sessionRequest: { agent: 'demo', name: 'A story', state: { region: 'EMEA' } },
  });
  story.equal<SessionStatus>('status', data.status, SessionStatus.Idle);
  story.equal('fork', data.fork, null);
  story.done('create');
  return data.id;
}

async function run(sessionId: string, text: string): Promise<string> {
  const started = await runs.startRun({
    sessionId,
    runRequest: { input: [{ content: { role: 'user', parts: [{ text }] } }] },
  });
  const runId = story.present('the run', started.data.run).id;
  const ended: Run = await story.poll(
    async () => (await runs.getRun({ sessionId, runId })).data,
    (read) => read.status !== RunStatus.InProgress,
  );
  story.equal<RunStatus>('status of the run', ended.status, RunStatus.Completed);
  story.equal('error of the run', ended.error, null);
  story.equal('the run has ended', typeof ended.endedTime, 'number');
  return runId;
}

async function thread(sessionId: string, first: string): Promise<void> {
  const { data, meta } = await runs.getThread({ sessionId });
  story.equal('next cursor', meta.nextCursor, null);
  const [state, asked, reply, ...rest] = data.items;
  story.equal('items after the first run', rest.length, 2);
  story.equal('content of the initial state', state?.content, null);
  story.equal('initial state', state?.actions?.stateDelta?.['region'], 'EMEA');
  story.equal('question', asked?.content?.parts?.[0]?.text, story.question);
  story.equal('invocation', reply?.invocationId, first);
  const call = story.present('the call', reply?.content?.parts?.[1]?.functionCall);
  story.equal('function', call.name, 'look_up');
  story.equal('argument', call.args?.['query'], 'weather');
  story.done('thread');
}

async function pages(sessionId: string): Promise<void> {
  const events = new EventsApi(config);
  const seqs: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await events.listEvents({ sessionId, limit: 3, cursor });
    seqs.push(...page.data.map((event) => event.seq));
    cursor = page.meta.nextCursor ?? undefined;
  } while (cursor);
  story.equal('positions', seqs.length, 5);
  story.done('pages');
}

async function task(sessionId: string): Promise<void> {
  const tasks = new TasksApi(config);
  const saved = await tasks.saveTask({
    sessionId,
    taskSave: {
      taskId: story.taskId,
      userMessage: story.question,
      messageBubbles: [
        {
          id: 'b1',
          type: BubbleTypeEnum.Agent,
          text: story.remark,
          parts: [{ kind: 'text', text: story.remark }],
        },
      ],
    },
  });
  story.equal('session of the task', saved.sessionId, sessionId);
  const read = await tasks.getTask({ sessionId, taskId: story.taskId });
  story.equal('text', read.messageBubbles[0]?.text, story.remark);
  story.equal('metadata', read.taskMetadata, null);
  story.done('task');
}

async function artifact(sessionId: string): Promise<void> {
  const artifacts = new ArtifactsApi(config);
  const name = story.artifact;
  const put = await artifacts.putArtifact({ sessionId, name, body: new Blob([story.bytes]) });
  story.equal('size', put.data.size, story.bytes.length);
  const read = await artifacts.getArtifact({ sessionId, name });
  story.equal('bytes', new Uint8Array(await read.arrayBuffer()), story.bytes);
  story.done('artifact');
}

async function fork(sessionId: string, second: string): Promise<void> {
  const { data } = await new ForksApi(config).forkSession({
    sessionId,
    forkRequest: { rewindBeforeInvocationId: second },
  });
  story.equal('source', data.fork?.sessionId, sessionId);
  story.equal('boundary found', data.fork?.boundaryFound, true);
  const read = await runs.getThread({ sessionId: data.id });
  story.equal('items of the fork', read.data.items.length, 3);
  story.done('fork');
}

async function rewind(sessionId: string, second: string): Promise<void> {
  const { data } = await new RewindApi(config).rewindSession({
    sessionId,
    rewindRequest: { rewindBeforeInvocationId: second },
  });
  story.equal('epoch', data.session.epoch, 1);
  story.equal('marker', data.event.content?.parts?.[0]?.text, 'Session rewound');
  const read = await runs.getThread({ sessionId });
  story.equal('items after the rewind', read.data.items.length, 3);
  story.done('rewind');
}

/** Returns the status of a request that must be refused. */
async function refused(request: Promise<unknown>): Promise<number> {
  try {
    await request;
  } catch (error) {
    if (error instanceof ResponseError) {
      return error.response.status;
    }
    throw error;
  }
  throw new Error('not refused');
}

async function update(sessionId: string): Promise<void> {
  const { raw } = await sessions.getSessionRaw({ sessionId });
  const ifMatch = story.present('ETag', raw.headers.get('ETag'));
  const sessionChange = { name: 'The same story' };
  const changed = await sessions.updateSession({ sessionId, sessionChange, ifMatch });
  story.equal('name', changed.data.name, 'The same story');
  story.equal(
    'status',
    await refused(sessions.updateSession({ sessionId, sessionChange, ifMatch })),
    412,
  );
  story.done('update');
}

async function remove(sessionId: string): Promise<void> {
  story.equal('status', await refused(sessions.getSession({ sessionId: story.unknown })), 404);
  const { raw } = await sessions.deleteSessionRaw({ sessionId });
  story.equal('deleted', raw.status, 204);
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
