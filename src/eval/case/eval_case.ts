/**
 * The cases of an evaluation.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../../core/json/json.ts";

/** Compares one argument of a tool call. */
export type ArgumentMatcher =
  | {
    readonly type: "equals";
    /** The JSON value that the argument must equal, in any order of properties. */
    readonly value: unknown;
  }
  | {
    readonly type: "contains";
    /** The text that the argument must contain; a value that is not a string is compared as JSON text. */
    readonly text: string;
  }
  | {
    readonly type: "regex";
    /** The pattern that must match somewhere in the argument. */
    readonly pattern: string;
  }
  | {
    readonly type: "schema";
    /** The JSON Schema that the argument must match. */
    readonly schema: JsonSchema;
  }
  | {
    /** Accepts any value, and a missing argument. */
    readonly type: "ignore";
  };

/** A tool call that a trajectory should contain. */
export interface ExpectedCall {
  /** Name of the tool. */
  readonly tool: string;
  /** Arguments that must be equal, by name. Without this and `matchers`, only the name of the tool is compared. */
  readonly arguments?: JsonObject | undefined;
  /** Matchers of further arguments, by name. An argument without an expectation does not match. Default: none. */
  readonly matchers?: Readonly<Record<string, ArgumentMatcher>> | undefined;
}

/**
 * Comparison of a trajectory with the expected calls.
 *
 * `exact`: the same calls at the same positions. `in_order`: the expected calls in this order, with others between them.
 * `any_order`: each expected call is a call of its own, in any order, with others between them.
 */
export type TrajectoryMatch = "exact" | "in_order" | "any_order";

/** The tool calls that a case expects. */
export interface ExpectedTrajectory {
  /** The comparison. */
  readonly match: TrajectoryMatch;
  /** The calls. */
  readonly calls: readonly ExpectedCall[];
  /** Whether calls of sub-agents are compared too, after the call that runs the agent. Default: `false`. */
  readonly subAgents?: boolean | undefined;
}

/** The answer that a case expects; a run without an answer has an empty one. */
export type ResponseCriteria =
  | {
    readonly type: "exact";
    /** The complete answer. */
    readonly text: string;
  }
  | {
    readonly type: "contains";
    /** The text that the answer must contain. */
    readonly text: string;
  }
  | {
    readonly type: "regex";
    /** The pattern that must match somewhere in the answer. */
    readonly pattern: string;
  }
  | {
    readonly type: "schema";
    /** The JSON Schema that the answer, parsed as JSON, must match. */
    readonly schema: JsonSchema;
  }
  | {
    readonly type: "custom";
    /** Returns whether the answer is accepted, or a score between 0 and 1, of which only 1 passes. Not possible in a file. */
    readonly check: (text: string) => boolean | number | Promise<boolean | number>;
  };

/** The state of a file after a run. */
export type ExpectedFile =
  | {
    readonly type: "exists" | "missing";
    /** Path relative to the directory of the case. */
    readonly path: string;
  }
  | {
    readonly type: "equals" | "contains";
    /** Path relative to the directory of the case. */
    readonly path: string;
    /** The content, or a part of it. */
    readonly text: string;
  }
  | {
    readonly type: "regex";
    /** Path relative to the directory of the case. */
    readonly path: string;
    /** The pattern that must match somewhere in the content. */
    readonly pattern: string;
  };

/** Limits of a run, over all user messages of its case. Default of each: no limit. */
export interface EvalBudget {
  /** Cost in US dollars. */
  readonly maxCost?: number | undefined;
  /** Tokens, of input and output, also of agents that tools run; exceeded if the model reports none. */
  readonly maxTokens?: number | undefined;
  /** Turns, without those of agents that tools run. */
  readonly maxTurns?: number | undefined;
  /** Duration in milliseconds. */
  readonly maxDurationMs?: number | undefined;
}

/** An evaluator by its name, with options. */
export interface EvaluatorConfig {
  /** Name in the registry. */
  readonly name: string;
  /** Name of the metric. Default: that of the evaluator, with a number if the case names it several times. */
  readonly metric?: string | undefined;
  /** Weight of the score in the mean of a run, above 0. Default: 1. */
  readonly weight?: number | undefined;
  /** Options of the evaluator. Default: none. */
  readonly options?: JsonObject | undefined;
}

/** A task for an agent, and the expectations of its run. */
export interface EvalCase {
  /** Identifier, unique in its set: letters, digits, `.`, `_` and `-`. */
  readonly id: string;
  /** Description for reports. Default: none. */
  readonly description?: string | undefined;
  /** System prompt of the agent. Default: that of the agent. */
  readonly systemPrompt?: string | undefined;
  /** The messages of the user; each starts when the run of the previous one has ended. */
  readonly userMessages: readonly string[];
  /** Directory that is copied for each run, relative to the file of the set. Default: an empty directory, if one is used. */
  readonly fixture?: string | undefined;
  /** Names of the tools that the agent gets. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** Name of the model. Default: that of the run of the set. */
  readonly model?: string | undefined;
  /** Expected tool calls. Default: not evaluated. */
  readonly expectedTrajectory?: ExpectedTrajectory | undefined;
  /** Expected answer to the last message. Default: not evaluated. */
  readonly expectedResponse?: ResponseCriteria | undefined;
  /** Expected files. Default: not evaluated. */
  readonly expectedFiles?: readonly ExpectedFile[] | undefined;
  /** Limits of the run. Default: none. */
  readonly budget?: EvalBudget | undefined;
  /** Evaluators in addition to those that apply by the expectations. Default: none. */
  readonly evaluators?: readonly EvaluatorConfig[] | undefined;
  /** Labels to select cases by. Default: none. */
  readonly tags?: readonly string[] | undefined;
  /** Number of runs. Default: 1. */
  readonly repetitions?: number | undefined;
}

/** Cases that are run together. */
export interface EvalSet {
  /** Identifier: letters, digits, `.`, `_` and `-`. */
  readonly id: string;
  /** Description for reports. Default: none. */
  readonly description?: string | undefined;
  /** The cases. */
  readonly cases: readonly EvalCase[];
  /** Directory of the file, from which the paths of fixtures start. Default: the working directory. */
  readonly directory?: string | undefined;
}
