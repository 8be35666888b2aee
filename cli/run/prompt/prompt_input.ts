/**
 * The prompt: arguments, standard input, or both.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import type { Input, Terminal } from "../../host/terminal.ts";

/** Time within which input must start to be added to a prompt; parent processes often leave it open and empty. */
const FIRST_BYTE_TIMEOUT_MS = 3_000;

/** Time after which the user is notified of the wait. */
const NOTICE_DELAY_MS = 200;

/** Maximum input; more would exceed the context window of every model. */
const MAX_BYTES = 10_000_000;

/** Options for `readPrompt()`. */
export interface PromptOptions {
  /** Standard input, and standard error for notices. */
  readonly terminal: Pick<Terminal, "input" | "messages">;
  /** Aborts reading; the input received so far is used. */
  readonly signal: AbortSignal;
  /** Whether standard input is the file of an option, and so no part of the prompt. Default: `false`. */
  readonly isInputTaken?: boolean;
  /** The word after `-r`, which may be meant as the prompt. Default: none. */
  readonly resumedId?: string | undefined;
  /** Time to wait for input when there is a prompt, in milliseconds. Default: 3,000. */
  readonly firstByteMs?: number;
}

/**
 * Reads the prompt from arguments and standard input. The argument `-` waits for standard input.
 *
 * @throws {UsageError} If the prompt is missing, or standard input cannot be read or is larger than 10 MB.
 */
export async function readPrompt(
  words: readonly string[],
  options: PromptOptions,
): Promise<string> {
  const { terminal, signal, isInputTaken, firstByteMs = FIRST_BYTE_TIMEOUT_MS } = options;
  const { input, messages } = terminal;
  const advice = createPromptAdvice(options);
  const isInputRequired = words.includes("-");
  const prompt = words.filter((word) => word !== "-").join(" ").trim();
  if (isInputTaken) {
    if (prompt === "") throw new UsageError("The prompt is empty", advice);
    return prompt;
  }
  if (input.isTerminal && isInputRequired) await messages.write(READING_NOTICE);
  if (prompt === "") {
    if (input.isTerminal && !isInputRequired) {
      throw new UsageError("The prompt is missing", advice);
    }
    const text = await new InputReader(input, signal).readAll();
    if (text.trim() === "" && !signal.aborted) {
      throw new UsageError("The prompt is empty", advice);
    }
    return text;
  }
  // The streams and timers of the runtime take a few milliseconds to load.
  if ((input.isTerminal && !isInputRequired) || input.isEmpty) return prompt;
  const reader = new InputReader(input, signal);
  if (!isInputRequired && !await reader.hasDataWithin(Math.min(NOTICE_DELAY_MS, firstByteMs))) {
    await messages.write(WAITING_NOTICE);
    if (!await reader.hasDataWithin(Math.max(firstByteMs - NOTICE_DELAY_MS, 0))) {
      await messages.write(UNREAD_NOTICE);
      return prompt;
    }
  }
  const text = await reader.readAll();
  return text.trim() === "" ? prompt : `${prompt}\n\n<stdin>\n${text.trimEnd()}\n</stdin>`;
}

function createPromptAdvice({ resumedId }: PromptOptions): string {
  if (resumedId === undefined) return 'Try: swink run "Make the tests pass"';
  return `-r takes ${JSON.stringify(resumedId)} as the id of a session. ` +
    `Try: swink run -r ${resumedId} "Make the tests pass"`;
}

const TEXT_ADVICE =
  "Add an image with -i FILE. The model can read other files that the prompt names.";
const READING_NOTICE = "swink: reading standard input; end it with Ctrl+D\n";
const WAITING_NOTICE =
  "swink: waiting for standard input (redirect it from /dev/null if there is none)\n";
const UNREAD_NOTICE =
  "swink: no data on standard input; continuing without it (the argument - waits for it)\n";

/** Reads standard input once. Requests the first chunk at once; the pending read does not keep the process alive. */
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

  /** Whether the first chunk or the end of the input arrives in time. */
  async hasDataWithin(milliseconds: number): Promise<boolean> {
    const { promise: timeout, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(resolve, milliseconds, false);
    try {
      return await Promise.race([this.#firstChunk.then(() => true), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads to the end of the input, or until the signal is aborted. */
  async readAll(): Promise<string> {
    if (await this.#firstChunk === undefined) return "";
    // Most runs have no input.
    const [{ LimitedBytesTransformStream }, { toText }] = await Promise.all([
      import("@std/streams/limited-bytes-transform-stream"),
      import("@std/streams/to-text"),
    ]);
    const limit = new LimitedBytesTransformStream(MAX_BYTES, { error: true });
    try {
      const bytes = ReadableStream.from(this.#readChunks()).pipeThrough(limit);
      const text = await toText(bytes.pipeThrough(new TextDecoderStream("utf-8", { fatal: true })));
      if (text.includes("\0")) throw new TypeError("binary data");
      return text;
    } catch (error) {
      if (error instanceof TypeError) {
        throw new UsageError("Standard input is not text in UTF-8", TEXT_ADVICE);
      }
      if (!(error instanceof RangeError)) throw error;
      throw new UsageError(`Standard input is larger than ${MAX_BYTES / 1_000_000} MB`);
    }
  }

  async *#readChunks(): AsyncGenerator<Uint8Array> {
    for (let chunk = await this.#firstChunk; chunk; chunk = await this.#readChunk()) yield chunk;
    this.#reader.releaseLock();
  }

  async #readChunk(): Promise<Uint8Array | undefined> {
    try {
      return await Promise.race([this.#reader.read().then(({ value }) => value), this.#aborted]);
    } catch (error) {
      // `nohup` opens standard input only for writing.
      if (error instanceof Error && "code" in error && error.code === "EBADF") return undefined;
      throw new UsageError(`Standard input cannot be read: ${getFileProblem(error)}`);
    }
  }
}
