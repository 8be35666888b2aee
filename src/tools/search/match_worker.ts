/**
 * Worker that matches lines, so that a pattern that takes too long can be terminated.
 *
 * @module
 */

import { getParentThread } from "../../platform/worker.ts";
import { matchLines } from "./match_lines.ts";

/** Message to the worker, after its first one. The reply is the matching lines. */
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

const parent = getParentThread();

parent.onMessage((message) => {
  const { bytes, source, flags, context } = message as MatchRequest;
  parent.postMessage(matchLines(bytes, { expression: new RegExp(source, flags), context }));
});
parent.postMessage("ready");
