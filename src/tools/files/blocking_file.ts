/**
 * Ignore files that would block a program such as `rg` or `git`, which opens each `.gitignore` of a tree. A command may have
 * made one of them a pipe without a writer, a link to a device without an end, or a huge file.
 *
 * @module
 */

import { isExactPath } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { MAX_IGNORE_BYTES } from "./parent_ignore_rules.ts";

/** Conditions with which `find` selects the files for {@linkcode isBlockingFile}. */
export const BLOCKING_CONDITIONS: readonly string[] = [
  ...["(", "!", "-type", "f", "-o", "-size", `+${Math.ceil(MAX_IGNORE_BYTES / 512)}`, ")"],
];

/**
 * Whether a program that reads a file would wait, or read too long. A link to a small file and a directory are harmless. A
 * file whose path is not exact cannot be examined.
 */
export function isBlockingFile(path: string, maxBytes = MAX_IGNORE_BYTES): boolean {
  if (!isExactPath(path)) return true;
  try {
    const { isFile, isDirectory, size } = system.statSync(path);
    return isFile ? size > maxBytes : !isDirectory;
  } catch {
    return false;
  }
}
