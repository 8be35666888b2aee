/**
 * Questions with fixed answers.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import type { Input } from "../host/terminal.ts";
import type { StyledLine } from "../render/styled_line.ts";
import { wrapText } from "../render/wrap_text.ts";
import type { TypedInput } from "./typed_input.ts";

/** A question with fixed answers. */
export interface Choice<Answer extends string> {
  /** The lines above the question; those that do not fit on the screen are shown on request. */
  readonly details: readonly StyledLine[];
  /** The question, which names the answers, such as `Allow? [y]es / [n]o`. */
  readonly message: string;
  /** The answers. The first letter of each selects it, and is not `v`. */
  readonly answers: readonly Answer[];
}

/** The terminal that a question is shown on. */
export interface QuestionContext {
  /** Terminal, environment and clock. */
  readonly host: Pick<Host, "terminal" | "env" | "now">;
  /** Switches the terminal from lines to keys. */
  readonly keyboard: Pick<Input, "setRaw">;
  /** The input of the keyboard. */
  readonly input: Pick<TypedInput, "discardEarlier" | "readChunk">;
  /** Closes the question. */
  readonly signal: AbortSignal;
}

const INDENT = "  ";

/** The answer that shows further details. */
const VIEW = "view";

/** Returns the lines of a sentence of the program, broken between words. Texts of others are marked where they are broken. */
export function toSentenceLines(sentence: string, columns: number): StyledLine[] {
  return toLines(
    wrapText(sentence, columns - INDENT.length).map((line) => INDENT + line),
  );
}

/** Returns lines without a style. */
export function toLines(texts: readonly string[]): StyledLine[] {
  return texts.map((text) => ({ text, paint: (row) => row }));
}

/** Parses an answer; `undefined` if it is invalid. `canView` adds the answer `view`. */
export function parseAnswer<Answer extends string>(
  { answers }: Choice<Answer>,
  text: string,
  canView: boolean,
): Answer | typeof VIEW | undefined {
  const word = text.trim().toLowerCase();
  const candidates = canView ? [...answers, VIEW] as const : answers;
  return candidates.find((answer) => word === answer || word === answer[0]);
}

/** Formats the lines that are shown after an invalid answer, of at most a number of columns. */
export function formatHint(
  { answers }: Choice<string>,
  { canView, columns }: { readonly canView: boolean; readonly columns: number },
): string {
  const text = `Possible answers: ${[...answers, ...(canView ? [VIEW] : [])].join(", ")}`;
  return wrapText(text, columns - INDENT.length).map((line) => INDENT + line).join("\n");
}
