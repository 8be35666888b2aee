/**
 * Compaction that omits the middle of a history.
 *
 * @module
 */

import { checkCompaction, COMPACTION_OPTIONS } from "./check_compaction.ts";
import { createCompactingTransform } from "./compacting_transform.ts";
import type { CompactingTransform, CompactionOptions } from "./compaction.ts";

/**
 * Returns a `transformContext` that omits the middle of a history that exceeds the model's context window. The
 * beginning and the latest steps are kept, a tool call is never separated from its result, and the history itself
 * is not changed.
 *
 * The transform keeps its cut between requests, so each agent needs its own.
 *
 * @throws {BadRequestError} If an option is unknown, or a number is below 0 or not a number.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { slidingWindow } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({
 *   model: "any/model",
 *   streamFn: scriptedStream([reply("Hello!")]),
 *   transformContext: slidingWindow({ contextWindow: 200_000 }),
 * });
 * await agent.prompt("Hello");
 * ```
 */
export function slidingWindow(options: CompactionOptions): CompactingTransform {
  checkCompaction(options, COMPACTION_OPTIONS, "slidingWindow()");
  return createCompactingTransform(options);
}
