/**
 * Steps with git that fail with a reason for the caller.
 *
 * @module
 */

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
