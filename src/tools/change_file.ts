/**
 * The one way in which a tool changes a file: alone, from what the model knows, whole, and noted.
 *
 * @module
 */

import { AbortedError } from "../core/errors.ts";
import type { FileChange } from "../core/file_change.ts";
import { MAX_EDIT_BYTES, textForChange } from "./text_content.ts";
import type { ToolKit } from "./tool_kit.ts";
import { fileChange } from "./unified_diff.ts";

/** Makes the new bytes of a file out of the old ones; `undefined` when there was no file. */
export type Rewrite = (before: Uint8Array | undefined) => Uint8Array | Promise<Uint8Array>;

/**
 * Changes a file and tells how.
 *
 * @throws {BadRequestError} When the file changed since the model saw it, or may not be changed.
 */
export async function changeOnce(
  kit: ToolKit,
  path: string,
  signal: AbortSignal,
  rewrite: Rewrite,
): Promise<FileChange> {
  const { files } = kit.sandbox;
  const canonical = await files.resolve(path, "write");
  return await kit.locks.run(canonical, async () => {
    const before = await files.readIfThere(canonical, { maxBytes: MAX_EDIT_BYTES, signal });
    await kit.seen.verify(canonical, before, path);
    const after = await rewrite(before);
    if (signal.aborted) throw new AbortedError("The call was cancelled; nothing was written");
    await kit.journal?.record(canonical, before ?? null, after);
    await files.write(canonical, after);
    await kit.seen.note(canonical, after);
    return fileChange({
      path: files.display(canonical),
      before: textForChange(before),
      after: textForChange(after),
    });
  });
}
