/**
 * Prompts that are sent again with the same idempotency key.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { RunInput, RunStart } from "./agent_runner.ts";
import { type EventCursor, formatCursor } from "./event_cursor.ts";

/**
 * Compares the prompt of a request with a known one: it is the same, another one with the same idempotency key, or any other
 * one.
 */
export function comparePrompts(
  { metadata: known }: Pick<AgentMessage, "metadata">,
  input: RunInput,
): "repeated" | "key_reused" | "other" {
  const metadata = input.type === "prompt" ? input.message.metadata : undefined;
  const { idempotencyKey, requestHash } = metadata ?? {};
  if (idempotencyKey === undefined || known?.["idempotencyKey"] !== idempotencyKey) return "other";
  return known["requestHash"] === requestHash ? "repeated" : "key_reused";
}

/** Finds the prompt of an earlier request with the same idempotency key. */
export async function findRepeated(
  session: Session,
  messages: readonly AgentMessage[],
  input: RunInput,
): Promise<RunStart | undefined> {
  const found = messages.find((message) => comparePrompts(message, input) !== "other");
  if (!found) return undefined;
  if (comparePrompts(found, input) === "key_reused") return { type: "key_reused" };
  const eventId = formatCursor(await findPosition(session, found));
  return { type: "repeated", messageId: found.id ?? "", eventId };
}

/** Returns the position before a message. */
async function findPosition(session: Session, message: AgentMessage): Promise<EventCursor> {
  const entries = await session.path({ types: ["message"] });
  const found = entries.find((entry) =>
    entry.type === "message" && entry.message.id === message.id
  );
  const position = Math.max(0, session.outline.findIndex(({ id }) => id === found?.id));
  return { position, entryId: session.outline[position - 1]?.id ?? "" };
}
