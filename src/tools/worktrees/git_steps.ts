/**
 * Steps with git that fail with a reason for the caller.
 *
 * @module
 */

import { isExactPath, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { type GitOutcome, type GitPlace, runGit } from "./git_program.ts";

/** A step that failed, with the reason for the caller. */
export class StepError extends Error {}

/** Returns what git has printed; throws with the reason if it failed. */
export function requireOutput(outcome: GitOutcome, problem: string): string {
  if (outcome.type === "done") return outcome.output;
  throw new StepError(`${problem}: ${outcome.reason}`);
}

/** Returns the changes that are not committed, one a line of `git status --porcelain`; ignored files are none. */
export async function listChanges(
  place: GitPlace,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const args = ["status", "--porcelain", "--untracked-files=all", "--ignore-submodules=all"];
  const output = requireOutput(await runGit(place, args, signal), "git cannot list the changes");
  return output.split("\n").filter((line) => line !== "");
}

/** Lists the paths of the submodules and of the nested repositories in the index. */
export async function listSubmodules(place: GitPlace): Promise<readonly string[]> {
  const files = await runGit(place, ["ls-files", "--stage", "-z"]);
  const entries = requireOutput(files, "git cannot list the files").split("\0");
  const paths = entries.flatMap((entry) => /^160000 [^\t]*\t(.*)$/s.exec(entry)?.[1] ?? []);
  if (paths.every(isExactPath)) return paths;
  throw new StepError("the name of a submodule is not UTF-8, so that it cannot be left out");
}

/**
 * Throws if there are files in the directory of a submodule, or of a repository that was created in the worktree: a commit
 * has none of them. A worktree begins without the files of its submodules, and git lists none of them as a change.
 */
export async function checkNestedRepositories(place: GitPlace, directory: string): Promise<void> {
  const nested = await listSubmodules(place);
  const own = nested.find((path) => !isEmptyDirectory(join(directory, path)));
  if (own === undefined) return;
  throw new StepError(
    `it has files in ${JSON.stringify(own)}, a repository of its own, of which its branch has none`,
  );
}

/** Whether there is nothing at a path, or a directory without entries. */
function isEmptyDirectory(path: string): boolean {
  try {
    return system.readDirSync(path)[Symbol.iterator]().next().done === true;
  } catch (error) {
    return getSystemErrorCode(error) === "ENOENT";
  }
}
