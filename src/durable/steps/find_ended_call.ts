/**
 * The events that end tool calls.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";

/** Returns the id of the call that an event ends, or the event in a record of the application. */
export function findEndedCall(event: unknown): string | undefined {
  if (!isJsonObject(event)) return undefined;
  const { type, id } = event;
  if (type === "tool_execution_end") return typeof id === "string" ? id : undefined;
  return type === "agent" ? findEndedCall(event["event"]) : undefined;
}
