/**
 * A policy that limits the number of turns.
 *
 * @module
 */

import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Policy } from "../core/hooks/policy.ts";
import { describeTurnLimit } from "../core/hooks/turn_limit.ts";

/**
 * Creates a policy that stops a run after `limit` turns. The option `maxTurns` of an agent does the same; a policy can
 * be combined with others and shared between agents.
 *
 * @throws {BadRequestError} If the limit is not a number above 0.
 *
 * @example
 * ```ts
 * import { maxTurns } from "@swink/agent/policies";
 *
 * const policies = [maxTurns(20)];
 * ```
 */
export function maxTurns(limit: number): Policy {
  if (typeof limit !== "number" || !(limit > 0)) {
    throw new BadRequestError(
      `The limit of turns must be a number above 0, not ${describeValue(limit)}`,
    );
  }
  return {
    name: "max_turns",
    preTurn: ({ turn }) =>
      turn < limit ? { type: "continue" } : { type: "stop", reason: describeTurnLimit(limit) },
  };
}
