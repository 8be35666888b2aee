/**
 * A policy that keeps an agent to paths that are relative to its worktree.
 *
 * @module
 */

import type { Policy } from "../core/hooks/policy.ts";
import { isJsonObject } from "../core/json/json.ts";

/** Names of arguments that are paths. */
const PATH_NAME = /path|file|dir|folder|cwd|root/i;
const ABSOLUTE = /^(?:[/\\~]|[a-z]:)/i;
const PARENT = /(?:^|[/\\])\.\.(?:[/\\]|$)/;

/**
 * Refuses the calls that name files of the worktree in another way than by a relative path. The rules of the run apply to
 * the paths of its own directory: a file that they protect could otherwise be reached by its path in the worktree.
 */
export function relativePaths(directory: string): Policy {
  return {
    name: "worktree_paths",
    preDispatch({ arguments: args }) {
      if (!hasOtherPath(args, directory, false)) return undefined;
      return { type: "skip", reason: "use paths relative to the working directory, without `..`" };
    },
  };
}

function hasOtherPath(value: unknown, directory: string, isPath: boolean): boolean {
  if (typeof value === "string") {
    const isOther = isPath && (ABSOLUTE.test(value.trim()) || PARENT.test(value));
    return isOther || value.includes(directory);
  }
  if (Array.isArray(value)) return value.some((item) => hasOtherPath(item, directory, isPath));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, member]) =>
    hasOtherPath(member, directory, isPath || PATH_NAME.test(name))
  );
}
