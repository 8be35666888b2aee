/**
 * The steps by which every tool changes a file: lock, check that nothing else changed it, record, write.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import { createFileChange } from "../../core/diff/unified_diff.ts";
import { AbortedError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { findMissingParents } from "../changes/change_directories.ts";
import { decodeForDiff, MAX_EDIT_BYTES } from "../files/text_content.ts";
import type { ToolKit } from "../kit/tool_kit.ts";

/** A file change requested by a tool call. */
export interface ChangeRequest {
  /** Arguments of the call, which identify its preview. */
  readonly args: JsonObject & { readonly path: string };
  /** Cancels the change before the file is written. */
  readonly signal: AbortSignal;
  /** Returns the new content. `before` is `undefined` if the file does not exist. */
  readonly rewrite: (before: Uint8Array | undefined) => Uint8Array | Promise<Uint8Array>;
}

/** A change that was made. */
export interface ChangedFile {
  /** The change. */
  readonly change: FileChange;
  /** Whether a content was replaced that neither the model has read nor the user has seen. */
  readonly wasUnseen: boolean;
}

/**
 * Changes a file and returns the change.
 *
 * @throws {BadRequestError} When the file may not be written, or changed since the model read it or the user approved
 * the change.
 */
export async function changeFile(kit: ToolKit, request: ChangeRequest): Promise<ChangedFile> {
  const { files } = kit.sandbox;
  const { args, signal, rewrite } = request;
  const canonical = await files.resolve(args.path, "write");
  return await kit.locks.run(canonical, async () => {
    await kit.commandChanges?.recordRunning(canonical);
    const before = await files.readIfExists(canonical, { maxBytes: MAX_EDIT_BYTES, signal });
    const isSeen = await kit.seenFiles.verify(canonical, before, args.path);
    const isPreviewed = await kit.previewedChanges.verify(args, before, args.path);
    const after = await rewrite(before);
    if (signal.aborted) {
      throw new AbortedError("The tool call was cancelled before the file was written");
    }
    const madeDirectories = kit.changeLog && !before
      ? await findMissingParents(files, canonical)
      : [];
    await kit.changeLog?.record(canonical, before ?? null, after, { madeDirectories });
    await files.write(canonical, after, { signal });
    await kit.seenFiles.record(canonical, after);
    await kit.previewedChanges.trackWrite(canonical, before, after);
    return {
      change: toFileChange(files.toDisplayPath(canonical), before, after),
      wasUnseen: before !== undefined && before.length > 0 && !isSeen && !isPreviewed,
    };
  });
}

/**
 * Returns the change that {@linkcode changeFile} would make, for approval.
 *
 * @throws {BadRequestError} When the change would fail.
 */
export async function previewChange(kit: ToolKit, request: ChangeRequest): Promise<FileChange> {
  const { files } = kit.sandbox;
  const { args, signal, rewrite } = request;
  const canonical = await files.resolve(args.path, "write");
  const before = await files.readIfExists(canonical, { maxBytes: MAX_EDIT_BYTES, signal });
  const after = await rewrite(before);
  await kit.previewedChanges.record(args, canonical, before);
  return toFileChange(files.toDisplayPath(canonical), before, after);
}

function toFileChange(path: string, before: Uint8Array | undefined, after: Uint8Array): FileChange {
  return createFileChange({ path, before: decodeForDiff(before), after: decodeForDiff(after) });
}
