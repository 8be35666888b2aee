/**
 * Token counts of a call whose earlier attempts were discarded.
 *
 * @module
 */

import { addUsage, type Usage } from "../../core/models/usage.ts";

/** Adds the usage of an attempt to that of the earlier ones, whose tokens `extra.discarded` counts. */
export function addToDiscarded(earlier: Usage, later: Usage): Usage {
  const { input, output, cacheRead, cacheWrite, extra } = earlier;
  const compaction = extra?.["compaction"] ?? 0;
  const discarded = input + output + cacheRead + cacheWrite - compaction;
  const counted = discarded > 0 ? { ...earlier, extra: { ...extra, discarded } } : earlier;
  return addUsage(counted, later);
}
