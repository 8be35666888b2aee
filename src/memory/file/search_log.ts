/**
 * Searches the lines of a log; parses only lines that can match.
 *
 * @module
 */

import { decodeSearchable } from "../store/jsonl.ts";
import { foldText, type SearchQuery } from "../store/search.ts";
import type { FoundHit } from "../store/search_page.ts";
import type { ReadableFile } from "./file_system.ts";
import { readLines } from "./read_lines.ts";

/** Options for {@linkcode searchLog}. */
export interface LogSearchOptions {
  /** Id of the session. */
  readonly sessionId: string;
  /** The query. */
  readonly query: SearchQuery;
  /** Smallest offset of the lines, in bytes. */
  readonly from: number;
}

/** Finds the entries of a log that match, oldest first; the position of a hit is the offset of its line. */
export async function* searchLog(
  file: ReadableFile,
  { sessionId, query, from }: LogSearchOptions,
): AsyncGenerator<Pick<FoundHit, "hit" | "position">> {
  for await (const lines of readLines(file)) {
    for (const { text = "", offset } of lines) {
      if (offset < from || !query.canMatch(foldText(text))) continue;
      const entry = decodeSearchable(text);
      const hit = entry && query.findHit(sessionId, entry);
      if (hit) yield { hit, position: offset };
    }
  }
}
