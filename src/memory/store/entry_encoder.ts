/**
 * Encodes the entries of a session for its log.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import { isJsonObject, toJsonValue } from "../../core/json/json.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { findEntryProblem, isKnownType, MAX_ENTRY_DEPTH } from "./entry_check.ts";
import { encodeEntry, withValidAmounts } from "./jsonl.ts";
import { RepeatedContent } from "./repeated_content.ts";
import { getSearchText } from "./search.ts";

/** An entry that can be stored. */
export interface EncodedEntry {
  /** The entry; a copy that shares nothing with the value that was appended. */
  readonly entry: SessionEntry;
  /** The entry as JSON, on one line, without a newline. */
  readonly line: string;
  /** The text that a search finds; empty if the entry has none, or repeats that of an earlier one. */
  readonly searchText: string;
}

/** Encodes the entries of one session, in their order. */
export class EntryEncoder {
  readonly #sessionId: string;
  readonly #repeated = new RepeatedContent();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /**
   * Encodes the next entry.
   *
   * @throws {SessionError} With the reason `invalid_entry` if a log could not have the entry as it is.
   */
  encode(entry: SessionEntry): EncodedEntry {
    const copy = this.#copy(entry);
    const record = this.#repeated.replace(copy);
    return {
      entry: copy,
      line: encodeEntry(copy, record),
      searchText: copy.type === "message" && "contentFrom" in record ? "" : getSearchText(copy),
    };
  }

  /** Adds an entry that is in the log, so that later entries can refer to its content. */
  add(entry: SessionEntry): void {
    this.#repeated.add(entry);
  }

  /** Removes entries that could not be stored. */
  forget(entries: readonly EncodedEntry[]): void {
    this.#repeated.forget(entries.map(({ entry }) => entry));
  }

  #copy(entry: SessionEntry): SessionEntry {
    const conversion = toJsonValue(entry, MAX_ENTRY_DEPTH);
    if ("problem" in conversion) throw this.#createError(conversion.problem);
    const { value } = conversion;
    if (!isJsonObject(value)) throw this.#createError("an entry is an object");
    const problem = findProblem(value);
    if (problem) throw this.#createError(problem);
    // The same entry as when it is read from the log.
    return withValidAmounts(value) as unknown as SessionEntry;
  }

  #createError(problem: string): SessionError {
    return new SessionError(
      `Cannot append the entry to the session "${this.#sessionId}": ${problem}: correct the entry; ` +
        "nothing was written",
      { reason: "invalid_entry" },
    );
  }
}

function findProblem(record: { readonly [name: string]: unknown }): string | undefined {
  if (record["type"] === "opaque") {
    return isJsonObject(record["record"]) ? undefined : "record must be an object";
  }
  if (!isKnownType(record["type"])) {
    return `unknown type ${JSON.stringify(record["type"])}: use { type: "custom", name, data }`;
  }
  return findEntryProblem(record);
}
