/**
 * The argument that names the paths that a search or a list leaves out.
 *
 * @module
 */

/** Schema of the argument. Its name marks it as a list of paths, which an agent with a worktree must name relatively. */
export const EXCLUDED_PATHS = {
  type: "array",
  items: { type: "string" },
  maxItems: 200,
  description: 'Globs of paths to leave out: "dist/**"',
} as const;
