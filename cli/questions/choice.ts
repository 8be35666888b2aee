/**
 * Questions with fixed answers.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import type { TypedInput } from "./typed_input.ts";

/** A question with fixed answers. */
export interface Choice<Answer extends string> {
  /** The question, which names the answers, such as `Allow? [y]es / [n]o`. */
  readonly message: string;
  /** The answers. The first letter of each is short for it. */
  readonly answers: readonly Answer[];
}

/** The terminal that a question is shown on. */
export interface QuestionContext {
  /** Terminal and environment. */
  readonly host: Pick<Host, "terminal" | "env">;
  /** The input with the answers. */
  readonly input: TypedInput;
  /** Closes the question. */
  readonly signal: AbortSignal;
}

/** Parses an answer; `undefined` if it is invalid. */
export function parseAnswer<Answer extends string>(
  { answers }: Choice<Answer>,
  text: string,
): Answer | undefined {
  const word = text.trim().toLowerCase();
  return answers.find((answer) => word === answer || word === answer[0]);
}

/** Formats the line that is shown after an invalid answer. */
export function formatHint({ answers }: Choice<string>): string {
  return `Possible answers: ${answers.join(", ")}`;
}
