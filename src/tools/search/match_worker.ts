/**
 * Matches lines in a thread of its own, which can be ended in the middle of a pattern that takes for ever.
 *
 * @module
 */

import { type LineMatch, matchLines } from "./match_lines.ts";

/** What the thread is asked. */
export interface MatchRequest {
  /** The bytes of a file. */
  readonly bytes: Uint8Array;
  /** The pattern. */
  readonly source: string;
  /** Its flags. */
  readonly flags: string;
  /** Lines to show around each match. */
  readonly context: number;
}

/** The few things of a thread's global object that are used here. */
interface WorkerScope {
  addEventListener(
    type: "message",
    listener: (event: { readonly data: MatchRequest }) => void,
  ): void;
  postMessage(answer: readonly LineMatch[]): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.addEventListener("message", ({ data: { bytes, source, flags, context } }) => {
  scope.postMessage(matchLines(bytes, { expression: new RegExp(source, flags), context }));
});
