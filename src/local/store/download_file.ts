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
import { SEEK_START, type SystemFile } from "../../platform/file_calls.ts";
import { dirname } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { DownloadAttempts } from "./download_attempts.ts";
import type { DownloadOptions, DownloadProgress } from "./download_options.ts";
import { createDigest, digestOpenFile } from "./file_digest.ts";
import {
  HubConnection,
  type PresentPart,
  type ReceivedFile,
  type TransferOptions,
} from "./hub_connection.ts";
import { type HubFile, toHubUrl } from "./hub_file.ts";
import type { requestFile } from "./hub_response.ts";
import { openPart } from "./part_file.ts";

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
  const connection = new HubConnection(options);
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
  readonly connection: HubConnection;
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

async function readPart(target: SystemFile, signal: AbortSignal): Promise<PresentPart> {
  const digest = createDigest();
  await target.seek(0, SEEK_START);
  return { length: await digestOpenFile(target, digest, signal), digest };
}

function createEmptyPart(): PresentPart {
  return { length: 0, digest: createDigest() };
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

/** The content is not the expected one. */
class ContentMismatch extends NetworkError {
  constructor({ file }: HubFile, { sha256, expected }: ReceivedFile) {
    const problem = `The downloaded ${file} is not the expected one and was removed`;
    super(`${problem}: its SHA-256 is ${sha256} instead of ${expected}`, { retryable: false });
  }
}
