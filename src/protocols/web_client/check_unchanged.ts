/**
 * Checks what a client has changed.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { ContentBlock } from "../../core/messages/content.ts";
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
  if (isJsonEqual(toClientForm(removeContext(own)), toClientForm(last.content))) return;
  throw new BadRequestError(
    "The agent of this conversation keeps its messages: send a new one in place of a changed one",
  );
}

/**
 * Returns a content in the form that a client sends back when it has a message of the agent: without files of the server
 * and names of documents, and with one text for several.
 */
function toClientForm(content: readonly ContentBlock[]): unknown {
  const parts = content.flatMap<unknown>((block) => {
    if (block.type === "text") return [block.text];
    if (!("source" in block) || block.source.type === "file") return [];
    return [{ type: block.type, source: block.source }];
  });
  return parts.every((part) => typeof part === "string") ? parts.join("\n") : parts;
}
