/**
 * Matches the paths that a search or a list leaves out.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import { compilePathPatterns } from "../kit/path_patterns.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";

/**
 * Creates a function that returns whether a canonical path is left out; `undefined` without patterns.
 *
 * @throws {BadRequestError} When a pattern is invalid.
 */
export function createPathExclusion(
  patterns: readonly string[] | undefined,
  files: SandboxFiles,
): ((path: string) => boolean) | undefined {
  if (!patterns || patterns.length === 0) return undefined;
  try {
    const matches = compilePathPatterns(patterns);
    return (path) => matches({ displayed: files.toDisplayPath(path), canonical: path });
  } catch (error) {
    throw new BadRequestError(`exclude_paths is invalid: ${getErrorMessage(error)}`);
  }
}
