/**
 * Failures of requests, as the server answers them.
 *
 * @module
 */

import { AgentError, SessionError } from "../../core/errors/errors.ts";

/** Status of the response for each kind of failure. */
const STATUS = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  origin_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  body_timeout: 408,
  already_running: 409,
  not_running: 409,
  not_continuable: 409,
  session_busy: 409,
  session_exists: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  host_not_allowed: 421,
  idempotency_key_reused: 422,
  too_many_requests: 429,
  too_many_runs: 429,
  too_many_sessions: 429,
  too_many_streams: 429,
  internal_error: 500,
  storage_failed: 503,
  authentication_failed: 503,
  shutting_down: 503,
} as const;

/** Kind of failure of a request. */
export type ProblemCode = keyof typeof STATUS;

/** All kinds of failures. */
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(STATUS) as ProblemCode[];

/** The failure of a request. */
export interface Problem {
  /** Kind of failure. */
  readonly code: ProblemCode;
  /** The reason, and what to do. */
  readonly message: string;
  /** Time after which the request may succeed, in milliseconds. Default: unknown. */
  readonly retryAfterMs?: number | undefined;
  /** Further headers of the response. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A failure that ends the handling of a request. */
export class RequestFailure extends Error {
  /** The failure. */
  readonly problem: Problem;

  /** Creates it; `cause` is an error that the caller does not get. */
  constructor(problem: Problem, options?: { readonly cause: unknown }) {
    super(problem.message, options);
    this.problem = problem;
  }
}

/** An error of the application, which has a type that errors of callers have. */
export class ApplicationError extends Error {
  /** The error. */
  override readonly cause: AgentError;

  constructor(cause: AgentError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** Calls a function of the application; an error that it throws is not reported as one of the caller. */
export async function callApplication<Result>(
  call: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await call();
  } catch (thrown) {
    throw AgentError.is(thrown) ? new ApplicationError(thrown) : thrown;
  }
}

/** Creates the failure that ends the handling of a request. */
export function createFailure(
  code: ProblemCode,
  message: string,
  rest: Pick<Problem, "retryAfterMs" | "headers"> = {},
): RequestFailure {
  return new RequestFailure({ code, message, ...rest });
}

/** Creates the failure of requests that a server which shuts down does not start to handle. */
export function createShutdownFailure(
  rest: Pick<Problem, "retryAfterMs"> = {},
): RequestFailure {
  return createFailure("shutting_down", "The server is shutting down: try again later", rest);
}

/** Returns the status of a failure. */
export function getStatus(code: ProblemCode): number {
  return STATUS[code];
}

/** Creates the response for a failure. */
export function toResponse({ code, message, retryAfterMs, headers }: Problem): Response {
  const waits = retryAfterMs !== undefined;
  const body = { error: { code, message, ...(waits && { retryAfterMs }) } };
  return Response.json(body, {
    status: STATUS[code],
    headers: {
      "cache-control": "no-store",
      ...(waits && { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
      ...headers,
    },
  });
}

/**
 * Returns the failure for what a handler threw. The details of an error that is not one of a caller may have a secret and
 * are not sent.
 */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof RequestFailure) return thrown.problem;
  if (!AgentError.is(thrown)) return createInternalProblem();
  if (thrown instanceof SessionError) return toSessionProblem(thrown);
  switch (thrown.code) {
    case "bad_request":
      return { code: "bad_request", message: thrown.message };
    case "no_messages":
      return {
        code: "not_continuable",
        message: "The session has no message to continue with: send a prompt",
      };
    case "already_running":
      return {
        code: "already_running",
        message:
          "A run of this session is active: steer it, follow up, abort it or wait for its end",
      };
    case "invalid_continue":
      return { code: "not_continuable", message: `${thrown.message}: send a prompt` };
    default:
      return createInternalProblem();
  }
}

function createInternalProblem(): Problem {
  return {
    code: "internal_error",
    message: "The server failed to handle the request; the reason is in the log of the server",
  };
}

function toSessionProblem({ reason }: SessionError): Problem {
  switch (reason) {
    case "not_found":
    case "not_a_session":
    case "bad_id":
      return {
        code: "not_found",
        message: "The session does not exist: list the sessions, or create one",
      };
    case "already_exists":
      return { code: "session_exists", message: "The id is in use: use another id, or none" };
    case "locked":
    case "lock_lost":
      return {
        code: "session_busy",
        message: "Another process works in this session: try again when it has finished",
        retryAfterMs: 1000,
      };
    case "bad_cursor":
      return {
        code: "bad_request",
        message: "Invalid cursor: use the cursor of the previous page, or none",
      };
    case "bad_filter":
      return { code: "bad_request", message: "Invalid filter of sessions" };
    case "newer_version":
      return {
        code: "storage_failed",
        message: "A newer version has written this session: update the server",
      };
    case "invalid_entry":
      return {
        code: "bad_request",
        message: "The content cannot be stored: it is nested too deep, or no JSON",
      };
    case "unknown_entry":
    case "read_only":
    case "closed":
    case "read_failed":
    case "write_failed":
      return {
        code: "storage_failed",
        message: "The session could not be read or written: try again later",
        retryAfterMs: 1000,
      };
  }
}
