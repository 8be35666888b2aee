/**
 * Questions to the user at the terminal.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { type Choice, formatHint, parseAnswer, type QuestionContext } from "./choice.ts";

/**
 * Asks a question until the answer is valid. Input that was typed before the question is discarded.
 *
 * @returns The answer; `undefined` at the end of the input, for Ctrl+D, or when the signal is aborted.
 */
export async function askChoice<Answer extends string>(
  choice: Choice<Answer>,
  context: QuestionContext,
): Promise<Answer | undefined> {
  const { host: { terminal, env }, input, signal } = context;
  // The user has typed no line feed after the question.
  const endLine = (): void => void terminal.messages.write("\n");
  signal.addEventListener("abort", endLine, { once: true });
  terminal.input.setRaw(true);
  try {
    // A prompt moves the cursor, which such a terminal cannot do.
    const prompt = env("TERM") === "dumb" ? undefined : await loadPrompt();
    await input.discardEarlier(signal);
    if (signal.aborted) return undefined;
    const ask = prompt?.promptChoice ?? askForLine;
    const answer = await ask(choice, context);
    if (answer === undefined && !signal.aborted) endLine();
    return answer;
  } finally {
    terminal.input.setRaw(false);
    signal.removeEventListener("abort", endLine);
    // Waits until everything is written.
    await terminal.messages.write("");
  }
}

/**
 * Imports the prompt; `undefined` if it cannot be loaded. The specifier is computed, so that the prompt is loaded with
 * the first question and not with the program. `deno compile` finds the file by `--include`.
 */
async function loadPrompt(): Promise<typeof import("./prompt_choice.ts") | undefined> {
  const module = new URL("./prompt_choice.ts", import.meta.url);
  return await import(module.href).catch(() => undefined);
}

async function askForLine<Answer extends string>(
  choice: Choice<Answer>,
  { host: { terminal }, input, signal }: QuestionContext,
): Promise<Answer | undefined> {
  terminal.input.setRaw(false);
  await terminal.messages.write(`  ${choice.message}: `);
  for await (const line of readLines(() => input.readChunk(signal))) {
    const answer = parseAnswer(choice, line);
    if (answer !== undefined) return answer;
    await terminal.messages.write(`  ${formatHint(choice)}\n  ${choice.message}: `);
  }
  return undefined;
}

function readLines(readChunk: () => Promise<Uint8Array | undefined>): ReadableStream<string> {
  const decoder = new TextDecoder();
  const text = new ReadableStream<string>({
    async pull(controller) {
      const chunk = await readChunk();
      if (chunk) controller.enqueue(decoder.decode(chunk, { stream: true }));
      else controller.close();
    },
  });
  return text.pipeThrough(new TextLineStream());
}
