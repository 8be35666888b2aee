/**
 * Errors of the proxy itself: the server writes them as HTTP responses, the client classifies them by code.
 *
 * @module
 */

import type { AgentErrorCode } from "../../src/core/errors/errors.ts";
import {
  AUTH,
  BAD_REQUEST,
  type ErrorClassification,
  type ErrorTable,
  FILTERED,
  OVERFLOW,
  THROTTLED,
  UNAVAILABLE,
  UNKNOWN,
  UNKNOWN_MODEL,
} from "../kit/errors/error_table.ts";

/** The reason why the proxy rejects a request. */
export interface Rejection {
  /** The HTTP status. */
  readonly status: number;
  /** The code of the error that the agent gets. */
  readonly code: AgentErrorCode;
  /** The error message. */
  readonly message: string;
}

/** Creates the rejection of an invalid request. */
export function createBadRequest(status: number, message: string): Rejection {
  return { status, code: "bad_request", message };
}

/** Creates the response to a rejected request. */
export function toResponse({ status, code, message }: Rejection): Response {
  const headers = {
    "cache-control": "no-store",
    ...(status === 405 && { allow: "POST" }),
    ...(status === 401 && { "www-authenticate": "Bearer" }),
  };
  return Response.json({ error: { code, message } }, { status, headers });
}

/** Error classes by the code of a rejection. */
export const PROXY_ERRORS: ErrorTable = {
  codes: {
    auth_error: AUTH,
    bad_request: BAD_REQUEST,
    content_filtered: FILTERED,
    context_window_overflow: OVERFLOW,
    model_not_found: UNKNOWN_MODEL,
    model_throttled: THROTTLED,
    network_error: UNAVAILABLE,
    stream_error: UNKNOWN,
  } satisfies Partial<Record<AgentErrorCode, ErrorClassification>>,
};
