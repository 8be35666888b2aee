/**
 * The prompt: the words of the command line, what comes from standard input, or both.
 *
 * @module
 */

import { UsageError } from "./cli_error.ts";
import type { Input, Terminal } from "./terminal.ts";

/**
 * Beside a prompt, standard input is taken when something comes from it within this time. Programs that start others
 * often leave it open for ever.
 */
const FIRST_BYTE_MS = 200;

/** More does not fit any model. */
const MAX_BYTES = 10_000_000;

/** How the prompt is read. */
export interface PromptOptions {
  /** Standard input, and where to say what is waited for. */
  readonly terminal: Pick<Terminal, "input" | "messages">;
  /** Ends the reading; what has come until then is the input. */
  readonly signal: AbortSignal;
  /** How long to wait for the first byte beside a prompt, in milliseconds. Default: 200. */
  readonly firstByteMs?: number;
}

/**
 * Reads the prompt. A word `-` stands for standard input and waits for it.
 *
 * @throws {UsageError} When there is none, or too much.
 */
export async function readPrompt(
  words: readonly string[],
  { terminal, signal, firstByteMs = FIRST_BYTE_MS }: PromptOptions,
): Promise<string> {
  const { input, messages } = terminal;
  const waits = words.includes("-");
  const prompt = words.filter((word) => word !== "-").join(" ").trim();
  if (input.isTerminal && waits) await messages.write(READING);
  if (prompt === "") {
    if (input.isTerminal && !waits) throw new UsageError("There is no prompt", EXAMPLE);
    const text = await new InputReading(input, signal).rest();
    if (text.trim() === "" && !signal.aborted) throw new UsageError("The prompt is empty", EXAMPLE);
    return text;
  }
  if (input.isTerminal && !waits) return prompt;
  const reading = new InputReading(input, signal);
  if (!waits && !await reading.beginsWithin(firstByteMs)) {
    await messages.write(LEFT_UNREAD);
    return prompt;
  }
  const text = await reading.rest();
  return text.trim() === "" ? prompt : `${prompt}\n\n<stdin>\n${text.trimEnd()}\n</stdin>`;
}

const EXAMPLE = 'Try: swink run "Make the tests pass"';
const READING = "swink: reading standard input; Ctrl+D ends it\n";
const LEFT_UNREAD =
  "swink: standard input is open but nothing comes from it; going on without it (- waits for it)\n";

/** One reading of standard input. A first piece that is never asked for keeps nothing waiting. */
class InputReading {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #ended: Promise<undefined>;
  readonly #first: Promise<Uint8Array | undefined>;

  constructor(input: Input, signal: AbortSignal) {
    this.#reader = input.bytes.getReader();
    this.#ended = new Promise((resolve) => {
      if (signal.aborted) return resolve(undefined);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    this.#first = this.#next();
    this.#first.catch(() => {});
  }

  /** Whether the first piece, or the end, comes within a time. */
  async beginsWithin(milliseconds: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(resolve, milliseconds, false);
    try {
      return await Promise.race([this.#first.then(() => true), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Everything up to the end, as text. */
  async rest(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for (let piece = await this.#first; piece; piece = await this.#next()) {
      bytes += piece.length;
      if (bytes > MAX_BYTES) {
        throw new UsageError(`Standard input is larger than ${MAX_BYTES / 1_000_000} MB`);
      }
      text += decoder.decode(piece, { stream: true });
    }
    this.#reader.releaseLock();
    return text + decoder.decode();
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      return await Promise.race([this.#reader.read().then(({ value }) => value), this.#ended]);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      throw new UsageError(`Standard input cannot be read: ${words}`);
    }
  }
}
