// The error that an answer describes.

import { ERRORS_BY_CODE } from './codes.js';
import {
  ConflictError,
  type Failure,
  ForbiddenError,
  NotFoundError,
  PreconditionFailedError,
  type Problem,
  RateLimitedError,
  RethreadError,
  UnauthorizedError,
  UnavailableError,
  ValidationError,
} from './errors.js';

type Class = typeof RethreadError;

const BY_CODE: Record<string, Class | undefined> = ERRORS_BY_CODE;

const BY_STATUS: Record<number, Class | undefined> = {
  400: ValidationError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  422: ValidationError,
  429: RateLimitedError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
};

/** Returns an error of the class for its code or, without a known one, for its status. */
export function errorFor(status: number, failure: Failure): RethreadError {
  const code = failure.problem?.code ?? '';
  const Class =
    (Object.hasOwn(BY_CODE, code) && BY_CODE[code]) || BY_STATUS[status] || RethreadError;
  return new Class(status, failure);
}

/** Returns the error that a response describes, or its status if the body does not. */
export async function errorOf(response: Response): Promise<RethreadError> {
  const body: unknown = await response.json().catch(() => null);
  const problem = typeof body === 'object' && body !== null ? (body as Problem) : {};
  return errorFor(response.status, {
    problem,
    retryAfter: parseRetryAfter(response.headers.get('Retry-After'), Date.now()),
  });
}

/** Returns the milliseconds of a Retry-After header, in seconds or a date; undefined if it has none. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
