// The stream of one request of an agent.

import type { Rethread } from '../client.js';
import { RunStream } from '../streams/run.js';
import { type AgentEvent, LAST, RunReplay } from './replay.js';

export interface AgentRequest {
  path: string;
  /** The agent as paths have it. */
  agent: string;
  /** RunAgentInput. */
  input: { threadId: string; messages: unknown[] };
  headers: HeadersInit | undefined;
}

export class AgentStream extends RunStream<AgentEvent> {
  readonly #request: AgentRequest;
  readonly #replay: RunReplay;

  constructor(client: Rethread, request: AgentRequest, ended: () => void) {
    super(client, ended);
    this.#request = request;
    this.#replay = new RunReplay(request.input.messages);
  }

  /** Sends the same request again: it starts nothing, because its run is recognised. */
  override open(again: boolean, signal: AbortSignal): Promise<Response> {
    const { path, agent, input: json, headers } = this.#request;
    const attempts = again ? { attempts: 1 } : {};
    const call = { method: 'POST' as const, path, params: [agent], json, headers, ...attempts };
    return this.client.streams.request(call, signal);
  }

  override connect(): void {
    this.#replay.connect();
  }

  override take(event: AgentEvent): AgentEvent[] | null {
    const { type, code, runId: run } = event;
    if (type === 'RUN_ERROR' && code === 'connect_again') return null;
    if (type === 'RUN_STARTED' && run) this.run = { session: this.#request.input.threadId, run };
    return this.#replay.take(event);
  }

  override isLast({ type }: AgentEvent): boolean {
    return LAST.includes(type);
  }
}
