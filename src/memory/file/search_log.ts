/**
 * Searches the lines of a log without making sense of those that cannot match.
 *
 * @module
 */

import type { SearchHit } from "../../core/session.ts";
import type { ReadableFile } from "./file_system.ts";
import { decodeLine } from "../store/jsonl.ts";
import { readLines } from "./read_lines.ts";
import type { SearchQuery } from "../store/search.ts";

/** What a search of one log is told. */
export interface LogSearchOptions {
  /** Name of the session. */
  readonly sessionId: string;
  /** What is looked for. */
  readonly query: SearchQuery;
  /** At most so many hits. */
  readonly limit: number;
  /** Ends the search early. */
  readonly signal?: AbortSignal | undefined;
}

/** The entries of a log that match, the oldest first. */
export async function searchLog(
  file: ReadableFile,
  search: LogSearchOptions,
): Promise<SearchHit[]> {
  const { sessionId, query, limit, signal } = search;
  const hits: SearchHit[] = [];
  for await (const lines of readLines(file)) {
    for (const line of lines) {
      if (signal?.aborted || hits.length >= limit) return hits;
      const hit = findHitInLine(line.text ?? "", sessionId, query);
      if (hit) hits.push(hit);
    }
  }
  return hits;
}

function findHitInLine(line: string, sessionId: string, query: SearchQuery): SearchHit | undefined {
  if (!query.canMatch(line.toLowerCase())) return undefined;
  const decoded = decodeLine(line);
  // The content of an echo is found where the journal holds it.
  return decoded && decoded.type !== "echo" ? query.findHit(sessionId, decoded) : undefined;
}
