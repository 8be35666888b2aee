/**
 * A connection to the hub, and the content that it delivers.
 *
 * @module
 */

import { BadRequestError, getErrorMessage, NetworkError } from "../../core/errors/errors.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { MAX_TIMER_MS } from "../../core/ports/ports.ts";
import { SEEK_START, type SystemFile } from "../../platform/file_calls.ts";
import { readFreeSpace } from "../../platform/free_space.ts";
import { formatBytes } from "../gguf/memory_estimate.ts";
import { BufferedOutput } from "./buffered_output.ts";
import type { DownloadOptions } from "./download_options.ts";
import type { Digest } from "./file_digest.ts";
import type { HubFile } from "./hub_file.ts";
import { describeManualDownload, type HubContent, requestFile } from "./hub_response.ts";

/** Options for the transfer to a part. */
export interface TransferOptions extends DownloadOptions {
  /** Directory of the part. */
  readonly directory: string;
}

/** The content of a part, and the one that is expected. */
export interface ReceivedFile {
  /** Number of bytes. */
  readonly received: number;
  /** SHA-256 of the content. */
  readonly sha256: string;
  /** SHA-256 of the expected content. */
  readonly expected: string;
  /** Whether an earlier download has left the start. */
  readonly isContinued: boolean;
}

/** The content that a part has. */
export interface PresentPart {
  /** Number of bytes. */
  readonly length: number;
  /** Has the bytes. */
  readonly digest: Digest;
}

interface WriteOptions {
  readonly target: SystemFile;
  readonly start: PresentPart;
  readonly file: HubFile;
  readonly url: URL;
}

/** A connection to the hub with time limits. */
export class HubConnection {
  readonly #options: TransferOptions;
  readonly #controller = new AbortController();
  readonly #onAbort = () => this.#controller.abort(this.#options.signal.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates it; `close()` ends it. */
  constructor(options: TransferOptions) {
    this.#options = options;
    if (options.signal.aborted) this.#onAbort();
    else options.signal.addEventListener("abort", this.#onAbort);
  }

  /** Aborted when a limit is exceeded, the download is aborted, or the connection is closed. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Requests the content; rejects if the hub does not answer in time. */
  async request(
    request: Parameters<typeof requestFile>[0],
  ): Promise<Awaited<ReturnType<typeof requestFile>>> {
    const { connectTimeoutMs } = this.#options;
    this.#limit(
      connectTimeoutMs,
      (time) =>
        `${request.url.host} has not answered within ${time}. ${
          describeManualDownload(request.url)
        }`,
    );
    try {
      return await abortable(requestFile(request), this.signal);
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** Writes the content to the part. */
  async write(response: HubContent, options: WriteOptions): Promise<ReceivedFile> {
    const { target, start: { digest, length }, file, url } = options;
    const size = file.size ?? response.size;
    const expected = file.sha256?.toLowerCase() ?? response.sha256;
    if (expected === undefined) throw await refuse(response, createUnverifiableError(file, url));
    const problem = this.#findSizeProblem(response, { url, size, target });
    if (problem) throw await refuse(response, problem);
    const reader = (response.body ?? new Blob().stream()).getReader();
    const cancel = () => void reader.cancel(this.signal.reason).catch(() => {});
    this.signal.addEventListener("abort", cancel);
    if (this.signal.aborted) cancel();
    await target.seek(length, SEEK_START);
    target.truncateSync(length);
    const output = new BufferedOutput(target);
    let received = length;
    try {
      for (;;) {
        this.#report(received, size);
        const { done, value } = await this.#read(reader, url);
        if (done) break;
        received += value.length;
        if (size !== undefined && received > size) throw createSizeError(url, received, size);
        digest.update(value);
        await output.write(value);
      }
      await output.flush();
      if (size !== undefined && received < size) throw createCutError(url, received, size);
      await target.syncData();
      return { received, sha256: digest.finish(), expected, isContinued: length > 0 };
    } finally {
      this.signal.removeEventListener("abort", cancel);
      reader.cancel().catch(() => {});
      output.close();
    }
  }

  /** Checks the size before the part is changed: a proxy may have sent a page of its own. */
  #findSizeProblem(
    { end }: HubContent,
    { url, size, target }: Pick<WriteOptions, "url" | "target"> & {
      readonly size: number | undefined;
    },
  ): Error | undefined {
    if (size === undefined) return undefined;
    if (end !== undefined && end !== size) return createLengthError(url, end, size);
    return this.#findMissingSpace(target, size);
  }

  /** Returns the error of a disk that cannot take the file; the part takes its place already. */
  #findMissingSpace(target: SystemFile, size: number): BadRequestError | undefined {
    const { directory } = this.#options;
    const needed = size - target.statSync().size;
    const free = readFreeSpace(directory);
    if (free === undefined || needed <= free) return undefined;
    return new BadRequestError(
      `The disk of ${directory} has ${formatBytes(free)} free, and ${
        formatBytes(needed)
      } are needed: ` +
        "free some space, or set SWINK_MODELS to a directory of another disk",
    );
  }

  /** Ends the connection. */
  close(): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    url: URL,
  ): Promise<ReadableStreamReadResult<Uint8Array>> {
    const { idleTimeoutMs } = this.#options;
    this.#limit(idleTimeoutMs, (time) => `${url.host} has sent nothing for ${time}`);
    try {
      return await abortable(reader.read(), this.signal);
    } catch (cause) {
      if (this.signal.aborted) throw this.signal.reason;
      throw new NetworkError(`Connection to ${url.host} lost: ${getErrorMessage(cause)}`, {
        cause,
      });
    } finally {
      clearTimeout(this.#timer);
    }
  }

  #limit(milliseconds: number, describe: (time: string) => string): void {
    clearTimeout(this.#timer);
    if (!Number.isFinite(milliseconds)) return;
    this.#timer = setTimeout(() => {
      this.#controller.abort(new NetworkError(describe(`${milliseconds} ms`)));
    }, Math.min(milliseconds, MAX_TIMER_MS));
  }

  #report(receivedBytes: number, totalBytes: number | undefined): void {
    this.#options.onProgress?.({
      receivedBytes,
      ...(totalBytes !== undefined && { totalBytes }),
    });
  }
}

/** Cancels a content that must not be received; returns the reason. */
async function refuse({ body }: HubContent, reason: Error): Promise<Error> {
  await body?.cancel();
  return reason;
}

function createCutError({ host }: URL, received: number, size: number): NetworkError {
  const progress = `${received} of ${size} bytes`;
  return new NetworkError(`${host} has closed the connection after ${progress}; start it again`);
}

function createSizeError({ host }: URL, received: number, size: number): NetworkError {
  const message = `${host} has sent ${received} bytes or more instead of ${size}`;
  return new NetworkError(message, { retryable: false });
}

function createLengthError({ host }: URL, length: number, size: number): NetworkError {
  const message = `${host} has sent a file of ${length} bytes instead of ${size}`;
  return new NetworkError(message, { retryable: false });
}

function createUnverifiableError({ file }: HubFile, { host }: URL): NetworkError {
  const message = `${host} reports no SHA-256 of ${file}, so that it cannot be verified`;
  return new NetworkError(message, { retryable: false });
}
