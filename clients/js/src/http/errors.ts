// Errors of requests.

import type { ErrorCode } from '../types.js';

/** One broken rule of a request. */
export interface FieldError {
  /** JSON pointer to the member of the body, or the name of a parameter. */
  pointer: string;
  detail: string;
}

/** The body of an error, as in RFC 9457; other members depend on the error. */
export interface Problem {
  type?: string;
  code?: string;
  title?: string;
  detail?: string;
  errors?: FieldError[];
  request_id?: string;
  /** The gateway's message, when the API itself did not answer. */
  message?: string | null;
  [more: string]: unknown;
}

/** Details of a failed request besides its status. */
export interface Failure {
  problem?: Problem;
  /** Milliseconds to wait before another attempt. */
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** What the gateway means where it answers without a code. */
const CODES: Record<number, string> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'route_not_found',
  413: 'body_too_large',
  429: 'rate_limited',
  500: 'internal_error',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** A failed request. Its subclasses tell the reasons apart. */
export class RethreadError extends Error {
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** The cause, as in docs/errors.md; '' if unknown. Each known one has a class of its own. */
  readonly code: ErrorCode | (string & {});
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  /** All rules that the request broke. */
  readonly errors: FieldError[];
  /** Milliseconds after which the server expects another attempt to succeed; undefined if unknown. */
  readonly retryAfter: number | undefined;
  /** The id of the request in the server's log; '' if unknown. */
  readonly requestId: string;
  /** The whole body of the answer. */
  readonly problem: Problem;

  constructor(status: number, { problem = {}, retryAfter, cause }: Failure = {}) {
    const title = problem.title ?? '';
    const detail = problem.detail ?? problem.message ?? '';
    super(detail || title || `The server answered ${status}.`, { cause });
    this.name = new.target.name;
    this.status = status;
    this.code = problem.code || CODES[status] || '';
    this.type = problem.type ?? 'about:blank';
    this.title = title;
    this.detail = detail;
    this.errors = problem.errors ?? [];
    this.retryAfter = retryAfter;
    this.requestId = problem.request_id ?? '';
    this.problem = problem;
  }
}

/** An argument cannot be sent, or is not enough; there was no such request. `detail` begins with its name. */
export class ArgumentError extends RethreadError {
  constructor(detail: string) {
    super(0, { problem: { detail } });
  }
}

/** The request is malformed (400) or breaks rules (422), which `errors` lists. */
export class ValidationError extends RethreadError {}

/** The token was rejected (401), also after it was renewed. */
export class UnauthorizedError extends RethreadError {}

/** The user has no right to do this (403). */
export class ForbiddenError extends RethreadError {}

/** The resource does not exist (404). */
export class NotFoundError extends RethreadError {}

/** Something is in the way (409), such as the active run `runId`. */
export class ConflictError extends RethreadError {
  /** The active run, if that is what is in the way. */
  get runId(): string | undefined {
    return text(this.problem.run_id);
  }

  /** The event that is stored with other content, if that is what is in the way. */
  get eventId(): string | undefined {
    return text(this.problem.event_id);
  }

  /** The log's newest position, if another one was expected. */
  get headSeq(): number | undefined {
    const { head_seq: seq } = this.problem;
    return typeof seq === 'number' ? seq : undefined;
  }
}

/** The resource has changed since the version in `ifMatch` (412). */
export class PreconditionFailedError extends RethreadError {}

/** Too many requests, or a quota is exhausted (429). */
export class RateLimitedError extends RethreadError {}

/** The server could not answer (502, 503, 504). */
export class UnavailableError extends RethreadError {}

/** No answer arrived; for a write it is unknown whether it was executed. */
export class ConnectionError extends RethreadError {
  constructor(cause: unknown) {
    super(0, { problem: { detail: 'The server cannot be reached.' }, cause });
  }
}

/** No answer arrived in time; for a write it is unknown whether it was executed. */
export class TimeoutError extends RethreadError {
  constructor(milliseconds: number, cause?: unknown) {
    super(0, { problem: { detail: `No answer within ${milliseconds} ms.` }, cause });
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
