/**
 * The limit of turns.
 *
 * @module
 */

/** Describes why a run stops at its limit of turns. */
export function describeTurnLimit(limit: number): string {
  return `The run reached its limit of ${limit} ${limit === 1 ? "turn" : "turns"}`;
}
