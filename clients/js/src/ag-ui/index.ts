// The package `rethread/ag-ui`: an agent for clients of AG-UI.

import { type AgentConfig, HttpAgent, type RunAgentInput } from '@ag-ui/client';
import type { Rethread } from '../client.js';
import { agentSegment, segment } from '../http/arguments.js';
import { AgentStream } from './stream.js';

export interface RethreadAgentConfig extends AgentConfig {
  client: Rethread;
  /** The agent's name, as the deployment has it. */
  agent: string;
  /**
   * What `abortRun` means: `stop`, the default, cancels the run, `leave` only ends the stream. A page that
   * is closed always leaves, and so does `detachActiveRun`.
   */
  onAbort?: 'stop' | 'leave';
  /** Called when `abortRun` could not cancel the run. */
  onStopFailed?: (error: unknown) => void;
}

type Options = Pick<RethreadAgentConfig, 'client' | 'agent' | 'onAbort' | 'onStopFailed'>;

/**
 * An agent of a deployment, as `HttpAgent`, with the tokens of a client. A thread is a session. A stream
 * whose connection is lost goes on where it was. Requests reject with the errors of `rethread`.
 */
export class RethreadAgent extends HttpAgent {
  readonly options: Options;
  /** The streams of this agent, but not of its clones. */
  readonly streams: Set<AgentStream>;

  constructor({ client, agent, onAbort, onStopFailed, ...config }: RethreadAgentConfig) {
    const name = agentSegment(agent);
    super({ ...config, url: `${client.streams.url}/agui/${segment(name)}` });
    this.options = { client, agent: name, onAbort, onStopFailed };
    this.streams = new Set();
    this.fetch = (_, init) => request(this, '/agui/{}', init);
  }

  /** Cancels the thread's run in progress. Returns the run's id; null without one. */
  async stop(): Promise<string | null> {
    const { client, agent } = this.options;
    const path = '/agui/{}/threads/{}/stop';
    const params = [agent, this.threadId];
    const response = await client.streams.request({ method: 'POST', path, params });
    return ((await response.json()) as { runId: string | null }).runId;
  }

  override async detachActiveRun(): Promise<void> {
    await super.detachActiveRun();
    for (const stream of this.streams) stream.leave();
  }

  override clone(): RethreadAgent {
    const clone = super.clone() as RethreadAgent;
    const fetch: HttpAgent['fetch'] = (_, init) => request(clone, '/agui/{}', init);
    return Object.assign(clone, { options: this.options, streams: new Set(), fetch });
  }

  /** Loads the thread, and joins its run in progress. */
  protected override connect(input: RunAgentInput): ReturnType<HttpAgent['run']> {
    const fetch: HttpAgent['fetch'] = (_, init) => request(this, '/agui/{}/connect', init);
    const joining = new HttpAgent({ url: this.url, headers: this.headers, fetch });
    this.abortController = joining.abortController;
    return joining.run(input);
  }
}

/** Sends a request; the body of its response goes on when the connection is lost. */
async function request(
  { options, streams }: RethreadAgent,
  path: string,
  { body, headers, signal }: RequestInit,
): Promise<Response> {
  const input = JSON.parse(String(body)) as RunAgentInput;
  const { client, agent, onAbort = 'stop', onStopFailed } = options;
  const stream: AgentStream = new AgentStream(
    client,
    { path, agent, input, headers },
    () => void streams.delete(stream),
  );
  streams.add(stream);
  const events = await stream.read(signal ?? undefined, () => {
    if (onAbort === 'leave') stream.leave();
    else stream.stop().catch((error) => onStopFailed?.(error));
  });
  return responseOf(events);
}

/**
 * Returns a response with events. Cancelling its body never rejects: @ag-ui/client cancels it after an
 * error, too, and does not handle that.
 */
function responseOf(events: ReadableStream<object> | null): Response {
  const texts = new TransformStream<object, string>({
    transform: (event, to) => to.enqueue(`data: ${JSON.stringify(event)}\n\n`),
  });
  const reader = events?.pipeThrough(texts).pipeThrough(new TextEncoderStream()).getReader();
  const body = {
    getReader: () => ({
      read: () => reader?.read() ?? Promise.resolve({ done: true, value: undefined }),
      cancel: (reason?: unknown) => reader?.cancel(reason).catch(() => {}) ?? Promise.resolve(),
    }),
  };
  const response = new Response(null, { headers: { 'Content-Type': 'text/event-stream' } });
  return Object.defineProperty(response, 'body', { value: body });
}
