/**
 * Fitting the window by forgetting the middle.
 *
 * @module
 */

import { createCompactingTransform } from "./compacting_transform.ts";
import type { CompactingTransform, CompactionOptions } from "./compaction.ts";

/**
 * A `transformContext` that leaves out the middle of a history that outgrows the model's window: the beginning
 * and the newest steps stay, a call is never parted from its result, and the history itself is not changed.
 *
 * It remembers what it left out, so each agent needs its own.
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
 * await agent.prompt("Say hello");
 * ```
 */
export function slidingWindow(options: CompactionOptions): CompactingTransform {
  return createCompactingTransform(options);
}
