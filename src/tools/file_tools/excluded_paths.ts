/**
 * The paths that a search or a list leaves out.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import { compilePathPatterns } from "../kit/path_patterns.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";

/** Schema of the argument. Its name marks it as a list of paths, which an agent with a worktree must name relatively. */
export const EXCLUDED_PATHS = {
  type: "array",
  items: { type: "string" },
  maxItems: 200,
  description:
    'Files and directories to leave out, as globs from the working directory, e.g. ["dist/**", "*.lock"]',
} as const;

/** Maximum total time to compare paths with the patterns, during which nothing else runs. */
const MAX_MATCHING_MS = 2_000;

/** Options for {@linkcode createPathExclusion}. */
export interface PathExclusionOptions {
  /** Current time in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/**
 * Creates a function that returns whether a canonical path is left out; `undefined` without patterns. It throws a
 * `BadRequestError` when the comparisons take too long.
 *
 * @throws {BadRequestError} When a pattern is invalid.
 */
export function createPathExclusion(
  patterns: readonly string[] | undefined,
  files: Pick<SandboxFiles, "toDisplayPath">,
  { now = () => performance.now() }: PathExclusionOptions = {},
): ((path: string) => boolean) | undefined {
  if (!patterns || patterns.length === 0) return undefined;
  try {
    const matches = compilePathPatterns(patterns);
    let remainingMs = MAX_MATCHING_MS;
    return (path) => {
      if (remainingMs <= 0) {
        throw new BadRequestError("exclude_paths takes too long: use fewer or simpler patterns");
      }
      const start = now();
      const isExcluded = matches({ displayed: files.toDisplayPath(path), canonical: path });
      remainingMs -= now() - start;
      return isExcluded;
    };
  } catch (error) {
    throw new BadRequestError(`exclude_paths is invalid: ${getErrorMessage(error)}`);
  }
}
