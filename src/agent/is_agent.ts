/**
 * Recognizes agents among the values of untyped callers.
 *
 * @module
 */

import type { Agent } from "./agent.ts";

/** Whether a value is an agent, also one of another copy of this library. */
export function isAgent(value: unknown): value is Agent {
  return typeof value === "object" && value !== null && "promptStream" in value &&
    typeof value.promptStream === "function";
}
