/**
 * The usage of a turn.
 *
 * @module
 */

import type { Cost, Usage } from "../../../mod.ts";

/** Turns that are known only in sum. */
export interface EarlierTurns {
  /** Number of turns. */
  readonly count: number;
  /** Their sum. */
  readonly usage: TurnUsage;
}

/** Tokens, cost and duration of what followed one message of the user. */
export interface TurnUsage {
  /** Name of the row, such as the number of the turn or the beginning of the message. */
  readonly label: string;
  /** Token counts. */
  readonly usage: Usage;
  /** Cost. */
  readonly cost: Cost;
  /** Duration in milliseconds. */
  readonly durationMs: number;
}
