/**
 * Searches the lines of a log; parses only lines that can match.
 *
 * @module
 */

import type { SearchHit } from "../../core/session.ts";
import { decodeLine } from "../store/jsonl.ts";
import type { SearchQuery } from "../store/search.ts";
import type { ReadableFile } from "./file_system.ts";
import { readLines } from "./read_lines.ts";

/** Options for {@linkcode searchLog}. */
export interface LogSearchOptions {
  /** Id of the session. */
  readonly sessionId: string;
  /** The query. */
  readonly query: SearchQuery;
  /** Maximum number of hits. */
  readonly limit: number;
  /** Ends the search early; the hits found so far are returned. */
  readonly signal?: AbortSignal | undefined;
}

/** Finds the entries of a log that match, oldest first. */
export async function searchLog(
  file: ReadableFile,
  { sessionId, query, limit, signal }: LogSearchOptions,
): Promise<SearchHit[]> {
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
  // The content of a duplicate is found in the tool journal.
  return decoded && decoded.type !== "duplicate" ? query.findHit(sessionId, decoded) : undefined;
}
