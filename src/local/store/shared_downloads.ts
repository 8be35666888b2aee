/**
 * Downloads of this process, which the callers of the same file share.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import type { DownloadProgress } from "./download_file.ts";

/** A caller of a download. */
export interface DownloadCaller {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Downloads a file for its first caller. */
type Download = (onProgress: (progress: DownloadProgress) => void) => Promise<void>;

interface ActiveDownload {
  readonly ended: Promise<unknown>;
  readonly callers: Set<DownloadCaller>;
}

const downloads = new Map<string, ActiveDownload>();

/**
 * Waits for the download of a path that is in progress; starts one if there is none, and returns `true`. Its failure is that
 * of the caller that has started it.
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
      await abortable(active.ended, caller.signal);
    } finally {
      active.callers.delete(caller);
    }
    return false;
  }
  const callers = new Set([caller]);
  const downloading = download((progress) => {
    for (const { onProgress } of callers) onProgress?.(progress);
  });
  downloads.set(path, { ended: downloading.catch(() => {}), callers });
  try {
    await downloading;
    return true;
  } finally {
    downloads.delete(path);
  }
}
