/**
 * Matches the paths that a search or a list leaves out.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { compilePathPatterns } from "../kit/path_patterns.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { limitMatching } from "./limit_matching.ts";

/**
 * Creates a function that returns whether a canonical path is left out; `undefined` without patterns. It throws a
 * `BadRequestError` when the comparisons take too long.
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
    return limitMatching(
      (path) => matches({ displayed: files.toDisplayPath(path), canonical: path }),
      { argument: "exclude_paths" },
    );
  } catch (error) {
    throw new BadRequestError(`exclude_paths is invalid: ${getErrorMessage(error)}`);
  }
}
