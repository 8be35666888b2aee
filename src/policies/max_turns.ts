/**
 * A limit on turns.
 *
 * @module
 */

import type { Policy } from "../core/policy.ts";

/**
 * Ends a run before it takes more than `limit` turns. An agent's own `maxTurns` does the same; this policy
 * composes with others and can be handed about.
 *
 * @example
 * ```ts
 * import { maxTurns } from "@swink/agent/policies";
 *
 * const policies = [maxTurns(20)];
 * ```
 */
export function maxTurns(limit: number): Policy {
  return {
    name: "max_turns",
    preTurn: ({ turn }) =>
      turn < limit
        ? { type: "continue" }
        : { type: "stop", reason: `The run reached its limit of ${limit} turns` },
  };
}
