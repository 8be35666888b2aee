/**
 * What lies at a path.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { getSystemErrorCode, quotePath } from "./file_error.ts";

/** What an entry of a folder is. A link counts as a link, wherever it leads. */
export type EntryKind = "file" | "folder" | "link" | "other";

/** What lies at a path, without following a link; `undefined` for nothing. */
export async function statIfExists(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (getSystemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** @throws {BadRequestError} When what was found is no regular file. */
export function assertRegularFile(found: Deno.FileInfo, path: string): void {
  if (found.isFile) return;
  throw new BadRequestError(`${quotePath(path)} is ${describeKind(found)}, not a regular file`);
}

function describeKind(found: Deno.FileInfo): string {
  if (found.isDirectory) return "a folder";
  if (found.isSymlink) return "a symbolic link";
  if (found.isFifo) return "a named pipe";
  if (found.isSocket) return "a socket";
  if (found.isCharDevice || found.isBlockDevice) return "a device";
  return "a special file";
}

/** What an entry is. */
export function getEntryKind(
  entry: { readonly isFile: boolean; readonly isDirectory: boolean; readonly isSymlink: boolean },
): EntryKind {
  if (entry.isSymlink) return "link";
  if (entry.isDirectory) return "folder";
  return entry.isFile ? "file" : "other";
}
