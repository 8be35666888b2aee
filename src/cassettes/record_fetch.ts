/**
 * A `fetch` that writes down what goes through it.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../core/errors.ts";
import { type CassetteExchange, formatExchange, formatHeader, isCassette } from "./cassette.ts";
import { type CassetteFiles, type CassettePath, nodeFiles } from "./cassette_files.ts";
import { createOutgoingRequest, type FetchArguments } from "./cassette_request.ts";
import { ExchangeRecorder } from "./record_exchange.ts";
import { realSleep, type Sleep } from "../core/ports.ts";

/** Options of {@linkcode recordFetch}. */
export interface RecordOptions {
  /** Texts that must not be kept, besides the keys that a request carries and whatever looks like one. */
  readonly secrets?: readonly string[] | undefined;
  /** Port: milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Port: waits. Default: `setTimeout`. */
  readonly sleep?: Sleep | undefined;
  /** Port: where cassettes are kept. Default: the disk. */
  readonly files?: CassetteFiles | undefined;
}

/** A `fetch` that records. */
export interface RecordingFetch extends AsyncDisposable {
  /** Sends a request. */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Resolves when everything is in the file. Exchanges that are still open get a tenth of a second to end; after that
   * they are recorded as far as they have come.
   *
   * @throws {BadRequestError} When something could not be written.
   */
  close(): Promise<void>;
}

/** How long an exchange that is still open is waited for, in milliseconds. */
const CLOSE_TIMEOUT_MS = 100;

/**
 * Records every exchange that goes through a `fetch` into a file, a cassette, from which {@linkcode replayCassette}
 * answers the same requests without a network.
 *
 * Responses stay live: each chunk is handed on as it comes, and no faster than it is read. An exchange is added to the
 * file when it is over, in one line of JSON, so that a crash loses none that was complete. Keys, tokens and cookies are
 * not written. A cassette that is there already is replaced once the first exchange is over; any other file is left
 * alone, and the request rejected.
 *
 * @example
 * ```ts
 * import { recordFetch, replayFetch } from "@swink/agent/testing";
 *
 * const file = `${await Deno.makeTempDir()}/greeting.jsonl`;
 * await using fetch = recordFetch(replayFetch("hello"), file); // or globalThis.fetch, and the network
 * const response = await fetch("https://api.example.com/greeting");
 * await response.text(); // "hello"
 * ```
 */
export function recordFetch(
  fetch: typeof globalThis.fetch,
  file: CassettePath,
  options: RecordOptions = {},
): RecordingFetch {
  const recording = new FetchRecorder(fetch, file, options);
  const record = (...request: FetchArguments) => recording.send(...request);
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
    this.#files = options.files ?? nodeFiles;
    this.#now = options.now ?? Date.now;
    this.#recordedAt = this.#now();
    this.#sleep = options.sleep ?? realSleep;
    this.#secrets = options.secrets ?? [];
  }

  async send(...request: FetchArguments): Promise<Response> {
    this.#fileCheck ??= this.#checkFile();
    await this.#fileCheck;
    if (this.#failure) throw this.#failure;
    const asked = await createOutgoingRequest(...request);
    asked.signal.throwIfAborted();
    const recorder: ExchangeRecorder = new ExchangeRecorder({
      number: ++this.#requestCount,
      request: asked,
      secrets: this.#secrets,
      now: this.#now,
      save: (exchange) => this.#save(exchange, recorder),
    });
    this.#openExchanges.add(recorder);
    return await recorder.send(this.#fetch);
  }

  async close(): Promise<void> {
    const woken = new AbortController();
    const all = Promise.all(Array.from(this.#openExchanges, ({ finished: over }) => over));
    await Promise.race([all, this.#sleep(CLOSE_TIMEOUT_MS, woken.signal)]);
    woken.abort();
    for (const recorder of this.#openExchanges) recorder.abort();
    await this.#pendingWrites;
    if (this.#failure) throw this.#failure;
  }

  /** What is there and is no cassette must not be written over; that is told before anything is sent. */
  async #checkFile(): Promise<void> {
    let text: string | undefined;
    try {
      text = await this.#files.read(this.#file);
    } catch (error) {
      throw this.#createError(error);
    }
    if (!text || isCassette(text)) return;
    throw new BadRequestError(
      `"${this.#file}" is not a cassette and is not written over: name another file to record into`,
    );
  }

  #save(exchange: () => CassetteExchange, recorder: ExchangeRecorder): Promise<void> {
    this.#openExchanges.delete(recorder);
    this.#pendingWrites = this.#pendingWrites.then(() => this.#write(exchange));
    return this.#pendingWrites;
  }

  /** After a failure nothing more is written: the line that failed may be half there. */
  async #write(exchange: () => CassetteExchange): Promise<void> {
    if (this.#failure) return;
    try {
      const line = formatExchange(exchange());
      if (this.#hasHeader) return await this.#files.append(this.#file, line);
      await this.#files.replace(this.#file, formatHeader(this.#recordedAt) + line);
      this.#hasHeader = true;
    } catch (error) {
      this.#failure = this.#createError(error);
    }
  }

  #createError(error: unknown): BadRequestError {
    return new BadRequestError(`Cannot record into "${this.#file}": ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}
