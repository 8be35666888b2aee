/**
 * Creates the live region that a terminal supports.
 *
 * @module
 */

import { DrawnRegion } from "./drawn_region.ts";
import type { LiveRegion, LiveRegionOptions } from "./live_region.ts";
import { PlainRegion } from "./plain_region.ts";

/** Creates a live region; where the terminal cannot move the cursor, it only writes output. */
export function createLiveRegion(options: LiveRegionOptions): LiveRegion {
  return options.features.hasCursor ? new DrawnRegion(options) : new PlainRegion(options);
}
