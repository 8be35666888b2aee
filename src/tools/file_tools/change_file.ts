/**
 * The one way in which a tool changes a file: alone, from what the model knows, whole, and noted.
 *
 * @module
 */

import { AbortedError } from "../../core/errors.ts";
import type { FileChange } from "../../core/diff/file_change.ts";
import type { JsonObject } from "../../core/json.ts";
import { decodeForDiff, MAX_EDIT_BYTES } from "../files/text_content.ts";
import type { ToolKit } from "../kit/tool_kit.ts";
import { createFileChange } from "../../core/diff/unified_diff.ts";

/** A change that a call asks for. */
export interface ChangeRequest {
  /** The arguments of the call, by which a preview and its call are known to be the same. */
  readonly args: JsonObject & { readonly path: string };
  /** Cancels. */
  readonly signal: AbortSignal;
  /** Makes the new bytes of the file out of the old ones; `undefined` when there was no file. */
  readonly rewrite: (before: Uint8Array | undefined) => Uint8Array | Promise<Uint8Array>;
}

/**
 * Changes a file and tells how.
 *
 * @throws {BadRequestError} When the file changed since the model or the person who approved saw it, or may not be
 * changed.
 */
export async function changeFile(kit: ToolKit, wanted: ChangeRequest): Promise<FileChange> {
  const { files } = kit.sandbox;
  const { args, signal, rewrite } = wanted;
  const canonical = await files.resolve(args.path, "write");
  return await kit.locks.run(canonical, async () => {
    const before = await files.readIfExists(canonical, { maxBytes: MAX_EDIT_BYTES, signal });
    await kit.seenFiles.verify(canonical, before, args.path);
    await kit.previewedChanges.verify(args, before, args.path);
    const after = await rewrite(before);
    if (signal.aborted) throw new AbortedError("The call was cancelled; nothing was written");
    await kit.changeLog?.record(canonical, before ?? null, after);
    await files.write(canonical, after);
    await kit.seenFiles.record(canonical, after);
    await kit.previewedChanges.trackWrite(canonical, before, after);
    return toFileChange(files.toDisplayPath(canonical), before, after);
  });
}

/**
 * What {@linkcode changeFile} would do, for the person who is asked.
 *
 * @throws {BadRequestError} When it would fail.
 */
export async function previewChange(kit: ToolKit, wanted: ChangeRequest): Promise<FileChange> {
  const { files } = kit.sandbox;
  const { args, signal, rewrite } = wanted;
  const canonical = await files.resolve(args.path, "write");
  const before = await files.readIfExists(canonical, { maxBytes: MAX_EDIT_BYTES, signal });
  const after = await rewrite(before);
  await kit.previewedChanges.record(args, canonical, before);
  return toFileChange(files.toDisplayPath(canonical), before, after);
}

function toFileChange(path: string, before: Uint8Array | undefined, after: Uint8Array): FileChange {
  return createFileChange({ path, before: decodeForDiff(before), after: decodeForDiff(after) });
}
