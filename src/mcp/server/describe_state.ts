/**
 * Texts about the states of servers.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { redact } from "../../core/text/redact.ts";
import type { McpServerState } from "../config/status.ts";

/** Maximum number of causes of an error that are described. */
const MAX_CAUSES = 5;
/** Maximum number of characters of a description; an error may have a text of the server. */
const MAX_LENGTH = 4_000;

/** Describes the state of a server to the model whose call it cannot execute; continues "The MCP server …". */
export function describeState(state: McpServerState): string {
  switch (state.type) {
    case "starting":
    case "ready":
      return "is not ready yet. Try again later";
    case "authorizing":
      return "waits until the user authorizes this program. Try again later";
    case "restarting":
      return `is being started again. Try again later. Its last failure: ${state.reason}`;
    case "failed":
      return `has failed: ${state.reason}`;
    case "closed":
      return "was closed";
  }
}

/**
 * Returns the messages of an error and of its causes, such as the reason why a host cannot be reached, without secrets.
 */
export function describeFailure(error: unknown, secrets: readonly string[] = []): string {
  let text = getErrorMessage(error);
  let current = error;
  for (let level = 0; level < MAX_CAUSES && current instanceof Error; level++) {
    current = current.cause;
    const message = current === undefined ? "" : getErrorMessage(current);
    if (!text.includes(message)) text += `: ${message}`;
  }
  // Before it is cut: a part of a secret would not be recognized.
  text = redact(text, secrets);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
