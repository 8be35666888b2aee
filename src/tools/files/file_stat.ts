/**
 * Kinds of directory entries.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { FileStatus } from "../../platform/file_calls.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { describeSpecialFile } from "../../platform/untrusted_file.ts";
import { quotePath } from "./file_error.ts";

/** Kind of a directory entry. A symbolic link is a `link`, whatever its target. */
export type EntryKind = "file" | "directory" | "link" | "other";

/** Reads the status of a path without following a link; `undefined` when it does not exist. */
export async function statIfExists(path: string): Promise<FileStatus | undefined> {
  try {
    return await system.lstat(path);
  } catch (error) {
    if (getSystemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Checks that an entry is a regular file. @throws {BadRequestError} When it is not. */
export function assertRegularFile(info: FileStatus, path: string): void {
  const kind = describeSpecialFile(info);
  if (kind) throw new BadRequestError(`${quotePath(path)} is ${kind}, not a regular file`);
}

/** Returns the kind of an entry. */
export function getEntryKind(
  entry: { readonly isFile: boolean; readonly isDirectory: boolean; readonly isSymlink: boolean },
): EntryKind {
  if (entry.isSymlink) return "link";
  if (entry.isDirectory) return "directory";
  return entry.isFile ? "file" : "other";
}
