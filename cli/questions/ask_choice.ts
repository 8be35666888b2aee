/**
 * Questions to the user at the terminal.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import type { Host } from "../host/host.ts";
import { hasColor } from "../render/style.ts";
import { KeyReader } from "./key_reader.ts";
import type { TypedInput } from "./typed_input.ts";

/** A question with fixed answers. */
export interface Choice<Answer extends string> {
  /** The question, which names the answers, such as `Allow? [y]es / [n]o`. */
  readonly message: string;
  /** The answers. The first letter of each is short for it. */
  readonly answers: readonly Answer[];
}

/** Dependencies of `askChoice()`. */
export interface QuestionContext {
  /** Terminal and environment. */
  readonly host: Pick<Host, "terminal" | "env">;
  /** The input with the answers. */
  readonly input: TypedInput;
  /** Closes the question. */
  readonly signal: AbortSignal;
}

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
    await input.discardEarlier(signal);
    if (signal.aborted) return undefined;
    // A prompt moves the cursor, which such a terminal cannot do.
    const ask = env("TERM") === "dumb" ? askForLine : promptForKeys;
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

async function promptForKeys<Answer extends string>(
  choice: Choice<Answer>,
  { host, input, signal }: QuestionContext,
): Promise<Answer | undefined> {
  // Loaded with the first question.
  const { Input } = await import("@cliffy/prompt/input");
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

function parseAnswer<Answer extends string>(
  { answers }: Choice<Answer>,
  text: string,
): Answer | undefined {
  const word = text.trim().toLowerCase();
  return answers.find((answer) => word === answer || word === answer[0]);
}

function formatHint({ answers }: Choice<string>): string {
  return `Possible answers: ${answers.join(", ")}`;
}
