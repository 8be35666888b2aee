/**
 * Avoids storing tool results twice.
 *
 * A session has each tool result twice: in the tool journal when the call ends, and as a message when the complete
 * batch has ended. The message refers to the journal entry instead of repeating its content.
 *
 * @module
 */

import { isJsonEqual } from "../../core/json_equal.ts";
import type { EntryPosition, SessionEntry, ToolFinishedEntry } from "../../core/session_entry.ts";

/** Finds tool result messages that repeat an entry of the tool journal. */
export class JournalDeduplicator {
  readonly #finished = new Map<string, ToolFinishedEntry & EntryPosition>();

  /** Adds the next entry; returns the id of the journal entry whose content it repeats, if any. */
  findOriginal(entry: SessionEntry): string | undefined {
    if (entry.type === "tool_finished") this.#finished.set(entry.toolCallId, entry);
    if (entry.type !== "message" || entry.message.role !== "tool_result") return undefined;
    const { toolCallId, content, details, isError } = entry.message;
    const finished = this.#finished.get(toolCallId);
    this.#finished.delete(toolCallId);
    const isDuplicate = finished && finished.isError === isError &&
      isJsonEqual(finished.result.content, content) &&
      isJsonEqual(finished.result.details, details);
    return isDuplicate ? finished.id : undefined;
  }

  /** Removes entries that could not be stored. */
  forget(entries: readonly SessionEntry[]): void {
    for (const entry of entries) {
      if (entry.type === "tool_finished") this.#finished.delete(entry.toolCallId);
    }
  }
}
