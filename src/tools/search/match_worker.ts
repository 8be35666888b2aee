/**
 * Worker that finds lines, so that a pattern that takes too long can be terminated.
 *
 * @module
 */

import { getParentThread, READY_MESSAGE } from "../../platform/worker.ts";
import { findLines } from "./find_lines.ts";
import { type CompiledPattern, compilePattern } from "./pattern.ts";
import type { SearchPattern } from "./search_pattern.ts";

/** Message to the worker, after its first one. The reply is a `FileLines`. */
export interface MatchRequest {
  /** Content of a file. */
  readonly bytes: Uint8Array;
  /** The pattern, which is the same in all requests. */
  readonly pattern: SearchPattern;
  /** Maximum number of matching lines. */
  readonly limit: number;
}

const parent = getParentThread();
let compiled: CompiledPattern | undefined;

parent.onMessage((message) => {
  const { bytes, pattern, limit } = message as MatchRequest;
  compiled ??= compilePattern(pattern);
  parent.postMessage(
    findLines(bytes, { pattern: compiled, multiline: pattern.multiline, limit }),
  );
});
parent.postMessage(READY_MESSAGE);
