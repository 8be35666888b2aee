/**
 * The part of a sub-agent's report about its worktree.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";
import type { Worktree, WorktreeEnd } from "../core/worktree_port.ts";

/** Ends the use of a worktree; returns where its changes are. */
export async function endWorktree(
  worktree: Worktree,
  resource: AsyncDisposable | undefined,
): Promise<string> {
  const { branch, directory } = worktree;
  try {
    await resource?.[Symbol.asyncDispose]();
  } catch {
    // A process that could not be ended may still change files, which are then no part of the commit.
  }
  const end = await removeWorktree(worktree);
  switch (end.type) {
    case "removed":
      return "It changed no files; its worktree was removed.";
    case "kept":
      return `Its changes are committed on the branch "${branch}" (worktree ${directory}) and not merged:\n${end.summary}`;
    case "failed":
      return `Its worktree ${directory} with the branch "${branch}" was kept: ${end.reason}`;
  }
}

/** Removes a worktree; a port that rejects must not keep the end of the sub-agent from being recorded. */
async function removeWorktree(worktree: Worktree): Promise<WorktreeEnd> {
  try {
    return await worktree.remove();
  } catch (thrown) {
    return { type: "failed", reason: getErrorMessage(thrown) };
  }
}

/** Returns what the system prompt of a sub-agent states about its worktree. */
export function describeWorktree({ branch, directory }: Worktree): string {
  return `Your working directory is ${directory}, a git worktree with the branch "${branch}" that only you use. ` +
    "Use paths relative to it. Your changes are committed when you finish, and merged by the other agent.";
}
