/**
 * Checks what a client has changed.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { ClientInput } from "./client_input.ts";

/**
 * Checks that an agent does not answer the earlier form of a message that its user has changed since.
 *
 * @throws {BadRequestError} If the agent has another content.
 */
export function checkUnchanged({ state }: Agent, { messages, context }: ClientInput): void {
  const last = messages.at(-1);
  if (last?.role !== "user") return;
  const own = state.messages.find(({ id }) => id === last.id);
  if (own?.role !== "user") return;
  // The context is a text, the last block.
  const isExtended = context !== undefined && own.content.length === last.content.length + 1 &&
    own.content.at(-1)?.type === "text";
  const content = isExtended ? own.content.slice(0, -1) : own.content;
  if (isJsonEqual(content, last.content)) return;
  throw new BadRequestError(
    "The agent of this conversation keeps its messages: send a new one in place of a changed one",
  );
}
