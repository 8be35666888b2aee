/**
 * The log of `--debug-file`: lines of JSON with times, without keys.
 *
 * @module
 */

import { AbortedError } from "../../src/core/errors/errors.ts";
import { redact } from "../../src/core/text/redact.ts";
import { UsageError } from "../host/cli_error.ts";
import { getFileProblem } from "../host/file_problem.ts";
import { toJsonLine } from "../render/json_line.ts";

/** A line of the log. */
export interface DebugLine {
  /** Type of the line. */
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Options for `DebugLog.open()`. */
export interface DebugLogOptions {
  /** Current time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once when the file cannot be written any more; later lines are lost. */
  readonly onFailure: (reason: string) => void;
  /** Ends the wait for the reader of a named pipe. */
  readonly signal: AbortSignal;
}

/** A file that only its owner can read, to which lines are appended. */
export class DebugLog implements Disposable {
  readonly #file: Deno.FsFile;
  readonly #options: DebugLogOptions;
  readonly #startedAt: number;
  readonly #secrets = new Set<string>();
  #hasFailed = false;

  private constructor(file: Deno.FsFile, options: DebugLogOptions) {
    this.#file = file;
    this.#options = options;
    this.#startedAt = options.now();
  }

  /**
   * Opens a file, which is created if it does not exist.
   *
   * @throws {UsageError} If the file cannot be opened.
   * @throws {AbortedError} If the signal is aborted before a named pipe has a reader.
   */
  static async open(path: string, options: DebugLogOptions): Promise<DebugLog> {
    const { signal } = options;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(new AbortedError());
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    const opening = Deno.open(path, { create: true, append: true, mode: 0o600 });
    try {
      return new DebugLog(await Promise.race([opening, aborted.promise]), options);
    } catch (error) {
      opening.then((file) => file.close(), () => {});
      if (error instanceof AbortedError) throw error;
      throw new UsageError(
        `Invalid value ${JSON.stringify(path)} for --debug-file: ${getFileProblem(error)}`,
      );
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Replaces a text in all lines from now on. */
  addSecret(secret: string): void {
    this.#secrets.add(secret);
    // As it is in JSON.
    this.#secrets.add(JSON.stringify(secret).slice(1, -1));
  }

  /** Writes a line, with its time and the milliseconds since the start of the log. */
  write(line: DebugLine): void {
    if (this.#hasFailed) return;
    const now = this.#options.now();
    const time = new Date(now).toISOString();
    const text = toJsonLine({ time, ms: Math.round(now - this.#startedAt), ...line });
    try {
      writeAll(this.#file, new TextEncoder().encode(redact(text, [...this.#secrets])));
    } catch (error) {
      this.#hasFailed = true;
      this.#options.onFailure(getFileProblem(error));
    }
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
  }
}

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
}
