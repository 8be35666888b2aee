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
const FIRST_BYTE_TIMEOUT_MS = 200;

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
  { terminal, signal, firstByteMs = FIRST_BYTE_TIMEOUT_MS }: PromptOptions,
): Promise<string> {
  const { input, messages } = terminal;
  const waits = words.includes("-");
  const prompt = words.filter((word) => word !== "-").join(" ").trim();
  if (input.isTerminal && waits) await messages.write(READING_NOTICE);
  if (prompt === "") {
    if (input.isTerminal && !waits) throw new UsageError("There is no prompt", USAGE_EXAMPLE);
    const text = await new InputReader(input, signal).readAll();
    if (text.trim() === "" && !signal.aborted) {
      throw new UsageError("The prompt is empty", USAGE_EXAMPLE);
    }
    return text;
  }
  if (input.isTerminal && !waits) return prompt;
  const reading = new InputReader(input, signal);
  if (!waits && !await reading.hasDataWithin(firstByteMs)) {
    await messages.write(UNREAD_NOTICE);
    return prompt;
  }
  const text = await reading.readAll();
  return text.trim() === "" ? prompt : `${prompt}\n\n<stdin>\n${text.trimEnd()}\n</stdin>`;
}

const USAGE_EXAMPLE = 'Try: swink run "Make the tests pass"';
const READING_NOTICE = "swink: reading standard input; Ctrl+D ends it\n";
const UNREAD_NOTICE =
  "swink: standard input is open but nothing comes from it; going on without it (- waits for it)\n";

/** One reading of standard input. A first piece that is never asked for keeps nothing waiting. */
class InputReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #aborted: Promise<undefined>;
  readonly #firstChunk: Promise<Uint8Array | undefined>;

  constructor(input: Input, signal: AbortSignal) {
    this.#reader = input.bytes.getReader();
    this.#aborted = new Promise((resolve) => {
      if (signal.aborted) return resolve(undefined);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    this.#firstChunk = this.#readChunk();
    this.#firstChunk.catch(() => {});
  }

  /** Whether the first piece, or the end, comes within a time. */
  async hasDataWithin(milliseconds: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(resolve, milliseconds, false);
    try {
      return await Promise.race([this.#firstChunk.then(() => true), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Everything up to the end, as text. */
  async readAll(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for (let piece = await this.#firstChunk; piece; piece = await this.#readChunk()) {
      bytes += piece.length;
      if (bytes > MAX_BYTES) {
        throw new UsageError(`Standard input is larger than ${MAX_BYTES / 1_000_000} MB`);
      }
      text += decoder.decode(piece, { stream: true });
    }
    this.#reader.releaseLock();
    return text + decoder.decode();
  }

  async #readChunk(): Promise<Uint8Array | undefined> {
    try {
      return await Promise.race([this.#reader.read().then(({ value }) => value), this.#aborted]);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      throw new UsageError(`Standard input cannot be read: ${words}`);
    }
  }
}
