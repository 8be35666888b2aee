/**
 * Files that are never part of a prompt because they usually hold secrets.
 *
 * @module
 */

import { getRelativePath } from "../../src/platform/paths.ts";
import { compileSecretGlobs, PROTECTED_FILES } from "../../src/platform/secret_places.ts";

/** Whether a file is outside of a directory or usually holds secrets, by its own name or by that of the target of a link. */
export async function isProtectedFile(file: string, directory: string): Promise<boolean> {
  const [root, target] = await Promise.all([
    Deno.realPath(directory),
    Deno.realPath(file).catch(() => file),
  ]);
  const names = [getRelativePath(directory, file), getRelativePath(root, target)];
  return names.some((name) => name === undefined || compileSecretGlobs(PROTECTED_FILES)(name));
}
