/**
 * Downloads a file of the hub: resumable, verified, and never visible before it is complete.
 *
 * @module
 */

import {
  AgentError,
  BadRequestError,
  getErrorMessage,
  NetworkError,
} from "../../core/errors/errors.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { MAX_TIMER_MS, type Sleep } from "../../core/ports/ports.ts";
import { SEEK_START, type SystemFile } from "../../platform/file_calls.ts";
import { readFreeSpace } from "../../platform/free_space.ts";
import { dirname } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { formatBytes } from "../gguf/memory_estimate.ts";
import { DownloadAttempts } from "./download_attempts.ts";
import { createDigest, type Digest, digestOpenFile } from "./file_digest.ts";
import { type HubFile, toHubUrl } from "./hub_file.ts";
import { describeManualDownload, type HubContent, requestFile } from "./hub_response.ts";
import { openPart } from "./part_file.ts";

/** Progress of a download. */
export interface DownloadProgress {
  /** Number of bytes that are present. */
  readonly receivedBytes: number;
  /** Size of the file in bytes, if it is known. */
  readonly totalBytes?: number;
}

/** Options for `downloadFile()`. */
export interface DownloadOptions {
  /** URL of the hub. */
  readonly endpoint: string;
  /** Token of the hub. */
  readonly token?: string | undefined;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** Longest wait for a response, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Longest pause between parts of the content, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Waits before another attempt. */
  readonly sleep: Sleep;
  /** Called after each part. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/**
 * Downloads a file to a path. A part that an earlier download or a lost connection has left is continued; if it turns out
 * to be damaged, or of another version of the file, it is replaced.
 *
 * @throws {AgentError} If the download fails; the part is kept. If the content is not the expected one; it is removed.
 */
export async function downloadFile(
  file: HubFile,
  path: string,
  options: DownloadOptions,
): Promise<void> {
  await createDirectory(dirname(path));
  const part = `${path}.part`;
  using open = await openPart(part);
  try {
    // Another process may have completed it.
    if (await isFile(path)) return await system.remove(part);
    await receiveVerified(file, open.file, { ...options, directory: dirname(path) });
    if (!await open.isInPlace()) {
      throw new BadRequestError(`${part} was removed during the download; start it again`);
    }
    await system.rename(part, path);
  } catch (error) {
    const isUseless = error instanceof ContentMismatch || open.file.statSync().size === 0;
    if (isUseless && await open.isInPlace()) await system.remove(part);
    if (getSystemErrorCode(error) === undefined || AgentError.is(error)) throw error;
    const message = `Cannot save ${path}: ${getErrorMessage(error)}`;
    throw new BadRequestError(message, { cause: error });
  }
}

interface TransferOptions extends DownloadOptions {
  /** Directory of the part. */
  readonly directory: string;
}

/** The content of a part, and the one that is expected. */
interface ReceivedFile {
  readonly received: number;
  readonly sha256: string;
  readonly expected: string;
  /** Whether an earlier download has left the start. */
  readonly isContinued: boolean;
}

async function receiveVerified(
  file: HubFile,
  target: SystemFile,
  options: TransferOptions,
): Promise<void> {
  const first = await receiveWithRetry(file, target, options);
  if (first.sha256 === first.expected) return;
  if (!first.isContinued) throw new ContentMismatch(file, first);
  target.truncateSync(0);
  const second = await receiveWithRetry(file, target, options);
  if (second.sha256 !== second.expected) throw new ContentMismatch(file, second);
}

/** Continues after a connection was lost. */
async function receiveWithRetry(
  file: HubFile,
  target: SystemFile,
  options: TransferOptions,
): Promise<ReceivedFile> {
  const { signal, sleep } = options;
  const attempts = new DownloadAttempts();
  const onProgress = (progress: DownloadProgress) => {
    attempts.addProgress(progress.receivedBytes);
    options.onProgress?.(progress);
  };
  for (;;) {
    try {
      return await receive(file, target, { ...options, onProgress });
    } catch (error) {
      const wait = signal.aborted ? undefined : attempts.getWait(error);
      if (wait === undefined) throw error;
      await sleep(wait, signal);
      signal.throwIfAborted();
    }
  }
}

async function receive(
  file: HubFile,
  target: SystemFile,
  options: TransferOptions,
): Promise<ReceivedFile> {
  const connection = new Connection(options);
  try {
    const present = await readPart(target, connection.signal);
    const whole = present.length > 0 ? toReceived(present, file) : undefined;
    if (whole) return whole;
    const url = toHubUrl(file, options.endpoint);
    const request = { ...options, url, token: options.token, signal: connection.signal };
    const response = await connection.request({ ...request, offset: present.length });
    if (response.type === "range_refused") {
      const { size = response.size, sha256 = response.sha256 } = file;
      const complete = toReceived(present, { size, sha256 });
      return complete ?? await receiveAll(target, { ...request, connection, file });
    }
    const isContinued = response.offset === present.length;
    const start = isContinued ? present : createEmptyPart();
    if (!isContinued && response.offset > 0) {
      await response.body?.cancel();
      throw new NetworkError(`${url.host} has sent another part than the requested one`);
    }
    return await connection.write(response, { target, start, file, url });
  } finally {
    connection.close();
  }
}

/** Returns a part that has all bytes of its file; `undefined` if it has not, or that is not known. */
function toReceived(
  { length, digest }: PresentPart,
  { size, sha256 }: Pick<HubFile, "size" | "sha256">,
): ReceivedFile | undefined {
  if (length !== size || sha256 === undefined) return undefined;
  const expected = sha256.toLowerCase();
  return { received: length, sha256: digest.finish(), expected, isContinued: true };
}

interface WholeRequest extends Omit<Parameters<typeof requestFile>[0], "offset"> {
  readonly connection: Connection;
  readonly file: HubFile;
}

/** Requests a file of which the part is too long. */
async function receiveAll(
  target: SystemFile,
  { connection, file, ...request }: WholeRequest,
): Promise<ReceivedFile> {
  const { url } = request;
  const response = await connection.request({ ...request, offset: 0 });
  if (response.type === "range_refused") throw new NetworkError(`${url.host} sends no content`);
  return await connection.write(response, { target, start: createEmptyPart(), file, url });
}

interface PresentPart {
  readonly length: number;
  readonly digest: Digest;
}

async function readPart(target: SystemFile, signal: AbortSignal): Promise<PresentPart> {
  const digest = createDigest();
  await target.seek(0, SEEK_START);
  return { length: await digestOpenFile(target, digest, signal), digest };
}

function createEmptyPart(): PresentPart {
  return { length: 0, digest: createDigest() };
}

interface WriteOptions {
  readonly target: SystemFile;
  readonly start: PresentPart;
  readonly file: HubFile;
  readonly url: URL;
}

/** A connection to the hub with time limits. */
class Connection {
  readonly #options: TransferOptions;
  readonly #controller = new AbortController();
  readonly #onAbort = () => this.#controller.abort(this.#options.signal.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: TransferOptions) {
    this.#options = options;
    if (options.signal.aborted) this.#onAbort();
    else options.signal.addEventListener("abort", this.#onAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

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
    if (expected === undefined) {
      await response.body?.cancel();
      throw createUnverifiableError(file, url);
    }
    // Before the part is changed: a proxy may have sent a page of its own.
    if (size !== undefined && response.end !== undefined && response.end !== size) {
      await response.body?.cancel();
      throw createLengthError(url, response.end, size);
    }
    const missing = size === undefined ? undefined : this.#findMissingSpace(target, size);
    if (missing) {
      await response.body?.cancel();
      throw missing;
    }
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

/** Whether a path is a file, or a link to one. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return (await system.stat(path)).isFile;
  } catch {
    return false;
  }
}

/**
 * Creates a directory and those above it, if they are missing.
 *
 * @throws {BadRequestError} If it cannot be created.
 */
export async function createDirectory(path: string): Promise<void> {
  try {
    await system.mkdir(path, { recursive: true });
  } catch (cause) {
    throw new BadRequestError(`Cannot create ${path}: ${getErrorMessage(cause)}`, { cause });
  }
}

/** Bytes that are collected, since a connection may deliver them one by one. */
const BUFFER_BYTES = 256 * 1024;

/** Writes to a file in large parts. */
class BufferedOutput {
  readonly #file: SystemFile;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #length = 0;

  constructor(file: SystemFile) {
    this.#file = file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0;) {
      const part = rest.subarray(0, BUFFER_BYTES - this.#length);
      this.#buffer.set(part, this.#length);
      this.#length += part.length;
      rest = rest.subarray(part.length);
      if (this.#length === BUFFER_BYTES) await this.flush();
    }
  }

  /** Writes the collected bytes. */
  async flush(): Promise<void> {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    try {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await this.#file.write(rest));
    } catch (cause) {
      const problem = "Cannot write the model, for which the disk may be full";
      throw new BadRequestError(`${problem}: ${getErrorMessage(cause)}`, { cause });
    }
  }

  /** Keeps what has arrived before a failure, if that is possible. */
  close(): void {
    try {
      if (this.#length > 0) this.#file.writeSync(this.#buffer.subarray(0, this.#length));
    } catch {
      // The first failure is reported.
    }
  }
}

function createUnverifiableError({ file }: HubFile, { host }: URL): NetworkError {
  const message = `${host} reports no SHA-256 of ${file}, so that it cannot be verified`;
  return new NetworkError(message, { retryable: false });
}

/** The content is not the expected one. */
class ContentMismatch extends NetworkError {
  constructor({ file }: HubFile, { sha256, expected }: ReceivedFile) {
    const problem = `The downloaded ${file} is not the expected one and was removed`;
    super(`${problem}: its SHA-256 is ${sha256} instead of ${expected}`, { retryable: false });
  }
}
