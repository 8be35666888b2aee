/**
 * Everything that has changed since a snapshot, as one patch.
 *
 * @module
 */

import type { DirectorySnapshot } from "./directory_snapshot.ts";
import { formatGitPatch } from "./git_patch.ts";

/** Writes what has changed as a patch for `git apply`; empty when nothing has. */
export async function makePatch(snapshot: DirectorySnapshot): Promise<Uint8Array> {
  const parts: BlobPart[] = [];
  for await (const change of snapshot.changes()) {
    parts.push(await formatGitPatch(change) as Uint8Array<ArrayBuffer>);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
