/**
 * The record of a run that evaluators compare.
 *
 * @module
 */

import type { JsonObject } from "../../core/json/json.ts";
import type { StopReason } from "../../core/models/model.ts";
import type { Cost, Usage } from "../../core/models/usage.ts";

/**
 * Outcome of a tool call.
 *
 * `completed`: it returned a result. `failed`: its result is an error, also if a policy, an approval or the validation
 * refused it. `denied`: an approval denied it. `unfinished`: the run ended without a result.
 */
export type TrajectoryOutcome = "completed" | "failed" | "denied" | "unfinished";

/** A tool call of a run. */
export interface TrajectoryCall {
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly tool: string;
  /** The arguments, after policies and approval if it started. */
  readonly arguments: JsonObject;
  /** Number of the turn, from 1, over all messages of the user. */
  readonly turn: number;
  /** The outcome. */
  readonly outcome: TrajectoryOutcome;
  /** Text of the result; empty if there is none. */
  readonly result: string;
  /** Time from the start of the tool to its end, in milliseconds; `undefined` if it did not start. */
  readonly durationMs?: number | undefined;
  /** The calls of the agent that this call runs, in order. */
  readonly calls: readonly TrajectoryCall[];
}

/** A reply of the model. */
export interface TrajectoryReply {
  /** Number of the message of the user that is answered, from 1. */
  readonly prompt: number;
  /** Number of the turn, from 1, over all messages of the user. */
  readonly turn: number;
  /** The text; empty if there is none. */
  readonly text: string;
  /** Tokens of the model calls of the turn, with failed attempts. */
  readonly tokens: number;
  /** Cost of these calls in US dollars; `null` if it is unknown. */
  readonly cost: number | null;
  /** Duration of these calls in milliseconds. */
  readonly durationMs: number;
}

/** The runs of a case: one for each message of the user. */
export interface Trajectory {
  /** The tool calls, in the order in which the model made them. */
  readonly calls: readonly TrajectoryCall[];
  /** The replies of the model, in order; those of sub-agents are not included. */
  readonly replies: readonly TrajectoryReply[];
  /** Number of turns. */
  readonly turns: number;
  /** Text of the last reply; empty if there is none. */
  readonly response: string;
  /** The reason why the last reply ended; `undefined` if no run ended. */
  readonly stopReason: StopReason | undefined;
  /** Token counts. */
  readonly usage: Usage;
  /** Cost; an amount is `null` if any part of it is unknown. */
  readonly cost: Cost;
  /** Message of the last error. Default: none. */
  readonly error?: string | undefined;
  /** Reason of the policy that stopped the last run. Default: none. */
  readonly stoppedBy?: string | undefined;
}
