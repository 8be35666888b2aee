/**
 * Worker that matches lines, so that a pattern that takes too long can be terminated.
 *
 * @module
 */

import { type LineMatch, matchLines } from "./match_lines.ts";

/** Message to the worker. The reply is the matching lines. */
export interface MatchRequest {
  /** Content of a file. */
  readonly bytes: Uint8Array;
  /** Source of the regular expression. */
  readonly source: string;
  /** Flags of the regular expression. */
  readonly flags: string;
  /** Number of context lines before and after each match. */
  readonly context: number;
}

/** The part of `DedicatedWorkerGlobalScope` that is used here. */
interface WorkerScope {
  addEventListener(
    type: "message",
    listener: (event: { readonly data: MatchRequest }) => void,
  ): void;
  postMessage(reply: readonly LineMatch[]): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.addEventListener("message", ({ data: { bytes, source, flags, context } }) => {
  scope.postMessage(matchLines(bytes, { expression: new RegExp(source, flags), context }));
});
