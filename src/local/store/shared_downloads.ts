/**
 * Downloads of this process, which the callers of the same file share.
 *
 * @module
 */

import { abortable } from "../../core/ports/abortable.ts";
import type { DownloadProgress } from "./download_options.ts";

/** A caller of a download. */
export interface DownloadCaller {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Downloads a file for its first caller. */
type Download = (onProgress: (progress: DownloadProgress) => void) => Promise<void>;

interface ActiveDownload {
  /** Resolves at the end; with the error if it has failed. */
  readonly ended: Promise<{ readonly error: unknown } | undefined>;
  /** The caller that has started it. */
  readonly owner: DownloadCaller;
  readonly callers: Set<DownloadCaller>;
}

const downloads = new Map<string, ActiveDownload>();

/**
 * Waits for the download of a path that is in progress; starts one if there is none, and returns `true`. All callers share
 * its failure, unless the one that has started it gives up.
 */
export async function shareDownload(
  path: string,
  caller: DownloadCaller,
  download: Download,
): Promise<boolean> {
  const active = downloads.get(path);
  if (active) {
    active.callers.add(caller);
    try {
      const failure = await abortable(active.ended, caller.signal);
      if (failure && !active.owner.signal.aborted) throw failure.error;
    } finally {
      active.callers.delete(caller);
    }
    return false;
  }
  const callers = new Set([caller]);
  const downloading = download((progress) => {
    for (const { onProgress } of callers) void notify(onProgress, progress);
  });
  const ended = downloading.then(() => undefined, (error) => ({ error }));
  downloads.set(path, { ended, owner: caller, callers });
  try {
    await downloading;
    return true;
  } finally {
    downloads.delete(path);
  }
}

/** Calls a listener, which may also be an async function. */
async function notify(
  onProgress: DownloadCaller["onProgress"],
  progress: DownloadProgress,
): Promise<void> {
  try {
    await onProgress?.(progress);
  } catch {
    // A listener that fails must fail neither the download of the others nor the process.
  }
}
