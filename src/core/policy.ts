/**
 * Policies: hooks that watch a run, stop it, or add to it.
 *
 * @module
 */

import type { AgentError } from "./errors.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "./message.ts";
import type { ModelSpec, StopReason } from "./model.ts";
import type { AgentTool } from "./tool.ts";
import type { Cost, Usage } from "./usage.ts";

/** What every slot is told of the run so far. */
export interface PolicyContext {
  /** Id of the run. */
  readonly runId: string;
  /** Turns that have begun in this run; the first is 1. Before the first turn: 0. */
  readonly turn: number;
  /** The model of the coming or current turn. */
  readonly model: ModelSpec;
  /** The history. */
  readonly messages: readonly AgentMessage[];
  /** Tokens of the run so far. */
  readonly usage: Usage;
  /** Cost of the run so far. */
  readonly cost: Cost;
  /** Milliseconds since the run began. */
  readonly elapsedMs: number;
  /** Fires when the run is aborted. */
  readonly signal: AbortSignal;
}

/** Before a turn begins. */
export interface PreTurnContext extends PolicyContext {
  /** What will be added to the history at the start of this turn: the prompt, steering, follow-ups. */
  readonly newMessages: readonly AgentMessage[];
}

/** Before a call runs, and again when its arguments were edited. */
export interface PreDispatchContext extends PolicyContext {
  /** Id of the call. */
  readonly toolCallId: string;
  /** The tool. */
  readonly tool: AgentTool;
  /**
   * The arguments, as a copy that the policy may change. Changed ones are validated again, and the result
   * tells the model that they were changed. A policy that throws leaves no change.
   */
  readonly arguments: Record<string, unknown>;
}

/** After a turn's messages are in the history. */
export interface PostTurnContext extends PolicyContext {
  /** The reply. */
  readonly message: AssistantMessage;
  /** The results of its calls. */
  readonly toolResults: readonly ToolResultMessage[];
}

/** When the run is over. */
export interface PostLoopContext extends PolicyContext {
  /** Why the last reply ended. */
  readonly stopReason: StopReason;
  /** What went wrong, if anything. */
  readonly error?: AgentError;
}

/** Goes on as if the policy were not there. */
export interface ContinueVerdict {
  /** Discriminant. */
  readonly type: "continue";
}

/** Ends the run. */
export interface StopVerdict {
  /** Discriminant. */
  readonly type: "stop";
  /** Why, for the caller. */
  readonly reason: string;
}

/** Adds messages: to this request before a turn, to the next turn's otherwise. */
export interface InjectVerdict {
  /** Discriminant. */
  readonly type: "inject";
  /** The messages. */
  readonly messages: readonly AgentMessage[];
}

/** Refuses one call with an error result. */
export interface SkipVerdict {
  /** Discriminant. */
  readonly type: "skip";
  /** Why, for the model. */
  readonly reason: string;
}

/** What a policy says. Nothing at all counts as `continue`. */
export type PolicyVerdict = ContinueVerdict | StopVerdict | InjectVerdict | void;

/** What a policy says to a call. */
export type PreDispatchVerdict = ContinueVerdict | StopVerdict | InjectVerdict | SkipVerdict | void;

/** Which policy ended a run, and why. */
export interface StoppedBy {
  /** Name of the policy. */
  readonly policy: string;
  /** Its reason. */
  readonly reason: string;
}

/**
 * Hooks at four places of a run. They run in order; the first `stop` wins, `inject`s add up. One that throws
 * counts as `continue`, and a `warning` event says so.
 */
export interface Policy {
  /** Name for results and warnings. */
  readonly name: string;
  /** Before a turn begins, ahead of `turn_start`. */
  preTurn?(context: PreTurnContext): PolicyVerdict | Promise<PolicyVerdict>;
  /** Before a call runs, after its arguments were validated and before anybody is asked. */
  preDispatch?(context: PreDispatchContext): PreDispatchVerdict | Promise<PreDispatchVerdict>;
  /** After a turn's messages are in the history, also when it failed or was aborted. */
  postTurn?(context: PostTurnContext): PolicyVerdict | Promise<PolicyVerdict>;
  /** Once, when the run is over. Only watches: its verdict changes nothing. */
  postLoop?(context: PostLoopContext): void | Promise<void>;
  /**
   * Watches a reply while it streams, with the characters that have arrived and the milliseconds since the
   * run began. A `stop` aborts the reply; what has arrived is kept.
   */
  onDelta?(context: OnDeltaContext): ContinueVerdict | StopVerdict | void;
}

/** What {@linkcode Policy.onDelta} is told. */
export interface OnDeltaContext {
  /** Id of the run. */
  readonly runId: string;
  /** The model that answers. */
  readonly model: ModelSpec;
  /** Characters of text, thinking and arguments that have arrived in this reply. */
  readonly characters: number;
  /** Tokens of the run before this reply. */
  readonly usage: Usage;
  /** Cost of the run before this reply. */
  readonly cost: Cost;
  /** Milliseconds since the run began. */
  readonly elapsedMs: number;
}
