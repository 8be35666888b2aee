/**
 * Responses that have no events.
 *
 * @module
 */

import {
  AgentError,
  type AgentErrorRecord,
  BadRequestError,
  NetworkError,
} from "../core/errors/errors.ts";
import { isJsonObject } from "../core/json/json.ts";

/**
 * Checks that a value is a response whose body can be read.
 *
 * @throws {BadRequestError} If it is not.
 */
export function checkResponse(response: Response): void {
  if (!isJsonObject(response?.headers) || response.bodyUsed || response.body?.locked) {
    throw createReadError();
  }
}

/** Creates the error for a value that is no response, or one whose body is being read. */
export function createReadError(): BadRequestError {
  return new BadRequestError("Pass the response of fetch(), with a body that is not being read");
}

/** Returns the content type of a response without its parameters, in lower case. */
export function getMediaType({ headers }: Response): string {
  return (headers.get("content-type") ?? "").replace(/\s*;.*/, "").toLowerCase();
}

/** Returns the error of the server, which a proxy may have replaced by its own page. */
export async function readError(response: Response): Promise<AgentError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => undefined);
  const found = isJsonObject(body) ? body["error"] : undefined;
  const error = isJsonObject(found) ? found : {};
  if (typeof error["code"] === "string") {
    return AgentError.from({ ...error as unknown as AgentErrorRecord, status });
  }
  const reason = typeof error["message"] === "string" ? `: ${error["message"]}` : "";
  const message = `The server responded with the status ${status}${reason}`;
  const Failure = status >= 500 ? NetworkError : BadRequestError;
  return new Failure(message, { status });
}
