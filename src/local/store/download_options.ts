/**
 * Options and progress of a download.
 *
 * @module
 */

import type { Sleep } from "../../core/ports/ports.ts";

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
