/**
 * A `fetch` that records its exchanges.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import { realSleep, type Sleep } from "../core/ports/ports.ts";
import { type CassetteExchange, formatExchange, formatHeader, isCassette } from "./cassette.ts";
import {
  type CassetteFiles,
  type CassettePath,
  createRecordingFiles,
  localFiles,
} from "./cassette_files.ts";
import { createOutgoingRequest, type FetchArguments } from "./cassette_request.ts";
import { checkSecrets } from "./check_secrets.ts";
import { ExchangeRecorder } from "./record_exchange.ts";

/** Options for {@linkcode recordFetch}. */
export interface RecordOptions {
  /**
   * Texts of at least 4 characters to redact, in addition to the keys of requests and texts with the form of a key.
   * Default: none.
   */
  readonly secrets?: readonly string[] | undefined;
  /** Port: returns milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Port: waits. Default: `setTimeout`. */
  readonly sleep?: Sleep | undefined;
  /** Port: writes cassette files. Default: the file system. */
  readonly files?: CassetteFiles | undefined;
}

/** A `fetch` that records. */
export interface RecordingFetch extends AsyncDisposable {
  /**
   * Sends a request and records the exchange.
   *
   * @throws {BadRequestError} If the file is not a cassette, or an earlier exchange could not be written.
   */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Resolves when all exchanges are written. Open exchanges have 100 ms to end; then they are recorded as aborted, with
   * the chunks received so far.
   *
   * @throws {BadRequestError} If an exchange could not be written.
   */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 100;

/**
 * Wraps a `fetch` and records its exchanges in a file, a cassette, from which `replayCassette()` answers the same
 * requests without a network.
 *
 * Responses stay streams: each chunk is passed on when it arrives, and none is read ahead. An exchange is appended when
 * it has ended, as one line of JSON, so that a crash loses no complete exchange. Keys, tokens and cookies are replaced
 * by `[redacted]`. An existing cassette is replaced when the first exchange has ended; a file that is not a cassette is
 * never overwritten. A recording that another one replaces fails.
 *
 * @throws {BadRequestError} If `fetch` is no function, or an option is unknown or invalid.
 *
 * @example
 * ```ts
 * import { recordFetch } from "@swink/agent/cassettes";
 *
 * const cassette = `${await Deno.makeTempDir()}/greeting.jsonl`;
 * const network = () => Promise.resolve(new Response("Hello")); // in a program: globalThis.fetch
 * await using fetch = recordFetch(network, cassette);
 * const response = await fetch("https://api.example.com/greeting");
 * await response.text(); // "Hello"
 * ```
 */
export function recordFetch(
  fetch: typeof globalThis.fetch,
  file: CassettePath,
  options: RecordOptions = {},
): RecordingFetch {
  checkObject(options, 'Pass options such as { secrets: ["key"] }');
  checkNames(options, ["secrets", "now", "sleep", "files"], "recordFetch()");
  checkSecrets(options.secrets);
  if (typeof fetch !== "function") {
    throw new BadRequestError("Pass the function that sends the requests, such as fetch");
  }
  const recording = new FetchRecorder(fetch, file, options);
  const record = (...fetchArguments: FetchArguments) => recording.send(...fetchArguments);
  const close = () => recording.close();
  return Object.assign(record, { close, [Symbol.asyncDispose]: close });
}

class FetchRecorder {
  readonly #fetch: typeof globalThis.fetch;
  readonly #file: CassettePath;
  readonly #files: CassetteFiles;
  readonly #now: () => number;
  readonly #sleep: Sleep;
  readonly #secrets: readonly string[];
  readonly #openExchanges = new Set<ExchangeRecorder>();
  readonly #recordedAt: number;
  #requestCount = 0;
  #fileCheck: Promise<void> | null = null;
  #hasHeader = false;
  #pendingWrites: Promise<void> = Promise.resolve();
  #failure: BadRequestError | null = null;

  constructor(fetch: typeof globalThis.fetch, file: CassettePath, options: RecordOptions) {
    this.#fetch = fetch;
    this.#file = file;
    this.#files = options.files ?? createRecordingFiles();
    this.#now = options.now ?? Date.now;
    this.#recordedAt = this.#now();
    this.#sleep = options.sleep ?? realSleep;
    this.#secrets = options.secrets ?? [];
  }

  async send(...fetchArguments: FetchArguments): Promise<Response> {
    this.#fileCheck ??= checkCassetteFile(this.#file, this.#files);
    await this.#fileCheck;
    if (this.#failure) throw this.#failure;
    const request = await createOutgoingRequest(...fetchArguments);
    request.signal.throwIfAborted();
    const recorder: ExchangeRecorder = new ExchangeRecorder({
      number: ++this.#requestCount,
      request,
      secrets: this.#secrets,
      now: this.#now,
      save: (exchange) => {
        this.#openExchanges.delete(recorder);
        return this.#pendingWrites = this.#pendingWrites.then(() => this.#write(exchange));
      },
    });
    this.#openExchanges.add(recorder);
    return await recorder.send(this.#fetch);
  }

  async close(): Promise<void> {
    const timeout = new AbortController();
    const allFinished = Promise.all(Array.from(this.#openExchanges, ({ finished }) => finished));
    await Promise.race([allFinished, this.#sleep(CLOSE_TIMEOUT_MS, timeout.signal)]);
    timeout.abort();
    for (const recorder of this.#openExchanges) recorder.abort();
    await this.#pendingWrites;
    if (this.#failure) throw this.#failure;
  }

  /** Writes an exchange, unless an earlier write failed and may have left an incomplete line. */
  async #write(exchange: () => CassetteExchange): Promise<void> {
    if (this.#failure) return;
    try {
      const line = formatExchange(exchange());
      if (this.#hasHeader) return await this.#files.append(this.#file, line);
      await this.#files.replace(this.#file, formatHeader(this.#recordedAt) + line);
      this.#hasHeader = true;
    } catch (error) {
      this.#failure = createRecordingError(this.#file, error);
    }
  }
}

/**
 * Checks that a recording may replace a file.
 *
 * @throws {BadRequestError} If the file cannot be read, or exists and is not a cassette.
 */
export async function checkCassetteFile(
  file: CassettePath,
  files: CassetteFiles = localFiles,
): Promise<void> {
  let text: string | undefined;
  try {
    text = await files.read(file);
  } catch (error) {
    throw createRecordingError(file, error);
  }
  if (!text || isCassette(text)) return;
  throw new BadRequestError(
    `Cannot record to "${file}": the file is not a cassette and will not be overwritten; choose another file`,
  );
}

function createRecordingError(file: CassettePath, error: unknown): BadRequestError {
  return new BadRequestError(`Cannot record to "${file}": ${getErrorMessage(error)}`, {
    cause: error,
  });
}
