// What goes wrong between the page and the API, in words for people.

export interface Problem {
  status: number;
  title?: string;
  detail?: string;
  /** What the gateway itself says, where the API did not get to answer. */
  message?: string;
  [more: string]: unknown;
}

/** An answer that is not what was asked for; `status` is 0 where no answer came at all. */
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

/** The error that an answer's body describes, or where that says nothing, its status. */
export function errorOf(response: Response, body: unknown): ApiError {
  const told = typeof body === 'object' && body !== null ? body : {};
  return new ApiError({ ...told, status: response.status });
}

/** What to tell people about anything that was thrown. */
export function tell(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
