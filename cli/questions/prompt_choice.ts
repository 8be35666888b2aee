/**
 * Questions as prompts, in which the answer can be edited.
 *
 * @module
 */

import { Input } from "@cliffy/prompt/input";
import { hasColor } from "../render/style.ts";
import { type Choice, formatHint, parseAnswer, type QuestionContext } from "./choice.ts";
import { KeyReader } from "./key_reader.ts";

/** Asks a question on a terminal in raw mode until the answer is valid; `undefined` if the input ends before. */
export async function promptChoice<Answer extends string>(
  choice: Choice<Answer>,
  { host, input, signal }: QuestionContext,
): Promise<Answer | undefined> {
  const reader = new KeyReader(() => input.readChunk(signal));
  try {
    const answer = await Input.prompt({
      message: choice.message,
      indent: "  ",
      prefix: "",
      validate: (text) => parseAnswer(choice, text) !== undefined || formatHint(choice),
      transform: (text) => parseAnswer(choice, text),
      reader,
      writer: createPromptWriter(host),
    });
    return parseAnswer(choice, answer);
  } catch (error) {
    if (reader.hasEnded) return undefined;
    throw error;
  }
}

/** Writes to standard error, without colors if it has none. */
function createPromptWriter(
  { terminal: { messages }, env }: QuestionContext["host"],
): { writeSync(bytes: Uint8Array): number } {
  const isColored = hasColor(messages, env);
  return {
    writeSync(bytes) {
      const text = new TextDecoder().decode(bytes);
      // deno-lint-ignore no-control-regex -- matches colors
      void messages.write(isColored ? text : text.replace(/\x1b\[[\d;]*m/g, ""));
      return bytes.length;
    },
  };
}
