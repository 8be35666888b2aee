/**
 * Service tiers that have prices of their own.
 *
 * @module
 */

import type { ServiceTier } from "../../../src/core/streams/stream.ts";
import type { ServerRequests } from "./server_requests.ts";

/** The tier of a reply, as far as it is known. */
export interface ServedTier {
  /** Tier that the provider reports for the reply, such as `flex`, `SERVICE_TIER_FLEX` or `ON_DEMAND_FLEX`. */
  readonly reported?: unknown;
  /** Tier of the request, which counts if the provider reports none. */
  readonly requested?: ServiceTier | undefined;
}

/** Matches the tiers whose prices differ from those of the default tier. */
const PRICED_TIER = /(?:^|_)(flex|priority|scale|reserved|fast)$/i;

/**
 * Counts a reply that a tier with other prices than the default one served. Its cost is unknown unless the rates have a
 * fee for such requests, which may be 0.
 */
export function countTierRequest(
  requests: ServerRequests,
  { reported, requested = "default" }: ServedTier,
): void {
  const isReported = typeof reported === "string" && !/^(?:auto|)$/i.test(reported);
  const [, tier] = PRICED_TIER.exec(isReported ? reported : requested) ?? [];
  if (tier !== undefined) requests.set(`${tier.toLowerCase()}Requests`, 1);
}
