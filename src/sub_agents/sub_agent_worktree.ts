/**
 * The worktree of a sub-agent: its creation, its end, and what the sub-agent and its report state about it.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors/errors.ts";
import type { Worktree, WorktreeCreation, WorktreeEnd } from "../core/ports/worktree_port.ts";
import type { ToolContext } from "../core/tools/tool.ts";
import type { SubAgentToolOptions } from "./sub_agent_options.ts";

/** The worktree of a sub-agent, `undefined` for one that needs none, or the reason why it cannot start. */
export type WorktreeStart =
  | { readonly type: "ready"; readonly worktree: Worktree | undefined }
  | { readonly type: "failed"; readonly reason: string };

/** Creates a worktree if the options have a port for it; reports those that an earlier process has left. */
export async function createWorktree(
  { name, worktrees }: Pick<SubAgentToolOptions, "name" | "worktrees">,
  { signal, onEvent }: Pick<ToolContext, "signal" | "onEvent">,
): Promise<WorktreeStart> {
  if (!worktrees) return { type: "ready", worktree: undefined };
  const creation: WorktreeCreation | undefined = await worktrees.create({ name, signal });
  if (creation?.type === "failed") return creation;
  const { worktree, notices = [] } = creation ?? {};
  // Without it, the sub-agent would change the directory of the run.
  if (typeof worktree?.directory !== "string") {
    return { type: "failed", reason: "its worktree port returned no worktree" };
  }
  for (const message of notices) {
    await onEvent({ type: "warning", code: "worktree_left", message });
  }
  return { type: "ready", worktree };
}

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
