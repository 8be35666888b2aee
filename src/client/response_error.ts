/**
 * The error of a response.
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

/** Returns the error of the server, which a proxy may have replaced by its own page. */
export async function readError(response: Response): Promise<AgentError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => undefined);
  const error = isJsonObject(body) ? body["error"] : undefined;
  if (isJsonObject(error) && typeof error["code"] === "string") {
    return AgentError.from({ ...error as unknown as AgentErrorRecord, status });
  }
  const reason = isJsonObject(error) && typeof error["message"] === "string"
    ? `: ${error["message"]}`
    : "";
  const message = `The server responded with the status ${status}${reason}`;
  return status >= 500
    ? new NetworkError(message, { status })
    : new BadRequestError(message, { status });
}
