/**
 * The limits of tenants.
 *
 * @module
 */

import type { Policy } from "../../core/hooks/policy.ts";

/** Limits of a tenant in this process. A limit that is missing has its default. */
export interface TenantLimits {
  /** Maximum number of runs at the same time. Default: 20. */
  readonly concurrentRuns?: number | undefined;
  /** Maximum number of requests per minute; a burst may have as many. Default: 1,200. */
  readonly requestsPerMinute?: number | undefined;
  /** Maximum size of the body of a request, in bytes. Default: 10,000,000. */
  readonly maxBodyBytes?: number | undefined;
  /** Maximum number of sessions; further ones cannot be created. Default: no limit. */
  readonly sessions?: number | undefined;
  /** Maximum number of event streams at the same time. Default: 100. */
  readonly eventStreams?: number | undefined;
  /**
   * Policies of every run of the tenant, in addition to those of its agent, such as a `sharedBudget()` of
   * `@swink/agent/policies`, which limits cost and tokens of all runs together. Default: none.
   */
  readonly policies?: readonly Policy[] | undefined;
}

/** Limits that are complete. */
export type ResolvedLimits = {
  readonly [Name in keyof TenantLimits]-?: NonNullable<TenantLimits[Name]>;
};

/** Names of the limits that are numbers. */
export const NUMERIC_LIMITS = [
  "concurrentRuns",
  "requestsPerMinute",
  "maxBodyBytes",
  "sessions",
  "eventStreams",
] as const;

/** Fills in the defaults. */
export function resolveLimits(limits: TenantLimits = {}): ResolvedLimits {
  return {
    concurrentRuns: limits.concurrentRuns ?? 20,
    requestsPerMinute: limits.requestsPerMinute ?? 1_200,
    maxBodyBytes: limits.maxBodyBytes ?? 10_000_000,
    sessions: limits.sessions ?? Infinity,
    eventStreams: limits.eventStreams ?? 100,
    policies: limits.policies ?? [],
  };
}
