/**
 * The output of `git diff-tree --raw`.
 *
 * @module
 */

import { isExactPath } from "../../platform/paths.ts";

/** Mode of a nested repository. */
export const REPOSITORY_MODE = "160000";

/** Mode of a symbolic link. */
const LINK_MODE = "120000";

/** Mode of a file that does not exist. */
export const NO_MODE = "000000";

/** A changed path. Modes are octal, and zero for a file that does not exist. */
export interface RawChange {
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldId: string;
  readonly newId: string;
  readonly path: string;
}

/** Parses the output of `git diff-tree -r -z`. */
export function parseRawDiff(output: string): RawChange[] {
  const pattern = /:(\d{6}) (\d{6}) ([\da-f]+) ([\da-f]+) [A-Z]\d*\0([^\0]+)\0/g;
  return [...output.matchAll(pattern)].map((match) => {
    const [, oldMode = "", newMode = "", oldId = "", newId = "", path = ""] = match;
    return { oldMode, newMode, oldId, newId, path };
  });
}

/** Whether the file has another mode than before when its earlier content is restored. */
export function losesMode({ oldMode, newMode }: RawChange): boolean {
  return newMode === NO_MODE ? oldMode === "100755" : oldMode !== NO_MODE && oldMode !== newMode;
}

/** Whether the content of a regular file differs, which an undo restores. */
export function isContentChange({ oldMode, newMode, oldId, newId, path }: RawChange): boolean {
  const isAllowed = (mode: string) => mode === NO_MODE || isFile(mode);
  return isAllowed(oldMode) && isAllowed(newMode) && oldId !== newId && isExactPath(path);
}

/** Whether a link has taken the place of a regular file, of which an undo restores the content but not the kind. */
export function isReplacedByLink({ oldMode, newMode, path }: RawChange): boolean {
  return isFile(oldMode) && newMode === LINK_MODE && isExactPath(path);
}

/** Whether a regular file was removed. */
export function isRemoval({ oldMode, newMode }: RawChange): boolean {
  return isFile(oldMode) && newMode === NO_MODE;
}

function isFile(mode: string): boolean {
  return mode.startsWith("100");
}
