/**
 * Requests that a proxy does not answer.
 *
 * @module
 */

import type { AgentErrorCode } from "../../src/core/errors.ts";

/** Why a request is not answered. */
export interface Rejection {
  /** The HTTP status. */
  readonly status: number;
  /** The code under which the agent gets the error. */
  readonly code: AgentErrorCode;
  /** What is wrong, and what to do about it. */
  readonly message: string;
}

/** The refusal of a request that is not as it should be. */
export function createBadRequest(status: number, message: string): Rejection {
  return { status, code: "bad_request", message };
}

/** The response that tells a refusal. */
export function toResponse({ status, code, message }: Rejection): Response {
  const headers = {
    "cache-control": "no-store",
    ...(status === 405 && { allow: "POST" }),
    ...(status === 401 && { "www-authenticate": "Bearer" }),
  };
  return Response.json({ error: { code, message } }, { status, headers });
}
