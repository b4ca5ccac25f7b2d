// Errors of API requests, with texts for users.

export interface Problem {
  status: number;
  title?: string;
  detail?: string;
  /** Message of the gateway, when the API itself did not respond. */
  message?: string;
  [more: string]: unknown;
}

/** A failed request; `status` is 0 if no response arrived. */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(
      problem.detail ??
        problem.message ??
        problem.title ??
        `The server answered ${problem.status}.`,
    );
    this.name = 'ApiError';
    this.status = problem.status;
    this.problem = problem;
  }
}

export const unreachable = (): ApiError =>
  new ApiError({ status: 0, detail: 'The server cannot be reached. Nothing was changed.' });

/** The error described by a response's body, or by its status if the body has none. */
export function errorOf(response: Response, body: unknown): ApiError {
  const problem = typeof body === 'object' && body !== null ? body : {};
  return new ApiError({ ...problem, status: response.status });
}

/** The text to show for anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
