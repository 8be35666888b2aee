/**
 * Tool results stand in a session twice: in the journal as soon as the call has ended, and in the conversation
 * when the whole batch has. The second is an echo of the first, and no store keeps its content again.
 *
 * @module
 */

import type { EntryPosition, SessionEntry, ToolFinishedEntry } from "../../core/session_entry.ts";

/** Knows which tool results the journal has been given. */
export class JournalDeduplicator {
  readonly #finished = new Map<string, ToolFinishedEntry & EntryPosition>();

  /** Takes the next entry; gives the journal's entry whose content it repeats, if it does. */
  findOriginal(entry: SessionEntry): string | undefined {
    if (entry.type === "tool_finished") this.#finished.set(entry.toolCallId, entry);
    if (entry.type !== "message" || entry.message.role !== "tool_result") return undefined;
    const { toolCallId, content, details, isError } = entry.message;
    const finished = this.#finished.get(toolCallId);
    this.#finished.delete(toolCallId);
    const isEcho = finished && finished.result.content === content &&
      finished.result.details === details && finished.isError === isError;
    return isEcho ? finished.id : undefined;
  }

  /** Forgets entries that were not kept after all. */
  forget(entries: readonly SessionEntry[]): void {
    for (const entry of entries) {
      if (entry.type === "tool_finished") this.#finished.delete(entry.toolCallId);
    }
  }
}
