/**
 * A question whose answer is a line of text.
 *
 * @module
 */

import type { QuestionContext } from "./choice.ts";

/** The question. */
export interface LineQuestion {
  /** The question, such as `Name`. */
  readonly message: string;
  /** The answer to an empty line. Default: the empty line. */
  readonly initial?: string | undefined;
}

/**
 * Asks for a line, which the terminal lets the user edit.
 *
 * @returns The line; `undefined` at the end of the input, or when the signal is aborted.
 */
export async function askLine(
  { message, initial = "" }: LineQuestion,
  { host: { terminal: { messages } }, input, signal }: Omit<QuestionContext, "keyboard">,
): Promise<string | undefined> {
  const suggestion = initial === "" ? "" : ` [${initial}]`;
  await messages.write(`  ${message}${suggestion}: `);
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const chunk = await input.readChunk(signal);
    if (!chunk) {
      await messages.write("\n");
      return undefined;
    }
    text += decoder.decode(chunk, { stream: true });
    const end = text.search(/[\r\n]/);
    if (end >= 0) return text.slice(0, end) || initial;
  }
}
