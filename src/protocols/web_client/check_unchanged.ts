/**
 * Checks what a client has changed.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import { listOwn, removeContext } from "./adopt_history.ts";
import type { ClientInput } from "./client_input.ts";

/**
 * Checks that an agent does not answer the earlier form of a message that its user has changed since.
 *
 * @throws {BadRequestError} If the agent has another content.
 */
export function checkUnchanged(agent: Agent, { messages }: ClientInput): void {
  const last = messages.at(-1);
  if (last?.role !== "user") return;
  const own = listOwn(agent).find(({ id }) => id === last.id);
  if (own?.role !== "user") return;
  if (isJsonEqual(removeContext(own), last.content)) return;
  throw new BadRequestError(
    "The agent of this conversation keeps its messages: send a new one in place of a changed one",
  );
}
