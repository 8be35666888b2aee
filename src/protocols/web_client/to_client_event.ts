/**
 * The events that a client gets apart from its messages.
 *
 * @module
 */

import type { AgentEvent } from "../../core/events/event.ts";

/** Events of which a client gets a part. */
type PartialEvent = Extract<
  AgentEvent,
  { readonly type: "retry" | "model_fallback" | "model_changed" | "warning" | "context_compacted" }
>;

/**
 * Returns what a client may know about an event. The messages of the server, which the report of a compaction has, stay
 * there, and so do the texts of warnings and of errors of attempts, which name files and accounts.
 */
export function toClientEvent(event: PartialEvent): object {
  switch (event.type) {
    case "retry": {
      const { attempt, delayMs, error, discard } = event;
      return { attempt, delayMs, discard, error: { code: error.code } };
    }
    case "model_fallback": {
      const { from, to, discard } = event;
      return { from, to, discard };
    }
    case "model_changed":
      return { from: event.from, to: event.to };
    case "warning":
      return { code: event.code };
    case "context_compacted": {
      const { droppedMessages: _dropped, ...report } = event.report;
      return report;
    }
  }
}
