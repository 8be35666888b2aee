/**
 * A library in the comparison, and the runs that all of them make.
 *
 * @module
 */

/** A reply of the model: one tool call, or a text in deltas of eight characters. */
export type Reply = { readonly type: "call"; readonly id: string } | {
  readonly type: "text";
  readonly deltas: number;
};

/** A run: the replies of the model in order, and the only tool. */
export interface Scenario {
  readonly replies: readonly Reply[];
  /** The tool `lookup`, which takes `{ key: string }`. */
  readonly lookup: () => string | Promise<string>;
  /** Aborts the run. */
  readonly signal?: AbortSignal;
}

/** Runs a scenario to its end and reads all of its events; returns the number of text characters. */
export type RunScenario = (scenario: Scenario) => Promise<number>;

/** A library. */
export interface Contender {
  readonly name: string;
  /** Specifiers that a program imports. */
  readonly imports: readonly string[];
  /** Imports the library; returns how it runs a scenario. */
  load(): Promise<RunScenario>;
}

/** The text of a delta. */
export const DELTA = "8 chars.";

/** The arguments of every tool call. */
export const ARGUMENTS = '{"key":"a"}';

/** Maximum turns for libraries with a default limit. */
export const MAX_TURNS = 10_000;
