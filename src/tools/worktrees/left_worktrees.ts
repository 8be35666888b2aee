/**
 * Removes worktrees that a process has left because it crashed.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { isMissing } from "../../platform/path_exists.ts";
import { basename, dirname, getRelativePath, isAbsolute, join } from "../../platform/paths.ts";
import { readSmallFile } from "../../platform/small_file.ts";
import { system } from "../../platform/system.ts";
import { type GitPlace, runGit } from "./git_program.ts";
import { checkNestedRepositories, listChanges, requireOutput, StepError } from "./git_steps.ts";
import { decodeOwner, getOwnerState, type WorktreeOwner } from "./worktree_owner.ts";

/** Beginning of the names of the branches of worktrees. */
const BRANCHES = "refs/heads/swink/";

/** Maximum size of a file that git keeps for a worktree. */
const MAX_FILE_BYTES = 16_384;

/** A worktree that a process has left. */
interface LeftWorktree {
  readonly owner: WorktreeOwner;
  readonly directory: string;
  /** Its directory in that of the repository. */
  readonly gitDirectory: string;
}

/**
 * Removes the worktrees in a directory whose process has ended, if everything in them is committed; a branch without
 * commits of its own, too. Returns sentences about the others, and about branches that stay. Never rejects.
 */
export async function removeLeftWorktrees(
  main: GitPlace,
  directory: string,
): Promise<readonly string[]> {
  const notices: string[] = [];
  for (const left of await listLeft(main, directory)) {
    const notice = await removeLeft(main, left);
    if (notice !== undefined) notices.push(notice);
  }
  return notices;
}

async function listLeft(main: GitPlace, parent: string): Promise<readonly LeftWorktree[]> {
  const outcome = await runGit(main, ["rev-parse", "--git-common-dir"]);
  if (outcome.type === "failed") return [];
  const path = outcome.output.replace(/\r?\n$/, "");
  const common = isAbsolute(path) ? path : join(main.cwd, path);
  const found: LeftWorktree[] = [];
  for (const name of listNames(join(common, "worktrees"))) {
    const left = readLeft(join(common, "worktrees", name));
    const relative = left && getRelativePath(parent, left.directory);
    if (left && relative !== undefined && relative === basename(left.directory)) found.push(left);
  }
  return found;
}

function listNames(directory: string): readonly string[] {
  try {
    return Array.from(system.readDirSync(directory), ({ name }) => name).toSorted();
  } catch {
    return []; // There has never been a worktree.
  }
}

/** Reads the files that git keeps for a worktree; `undefined` if it is not one of an ended process. */
function readLeft(gitDirectory: string): LeftWorktree | undefined {
  const owner = decodeOwner(readText(join(gitDirectory, "locked")));
  const link = readText(join(gitDirectory, "gitdir"));
  if (!owner || !isAbsolute(link) || getOwnerState(owner) === "running") return undefined;
  return { owner, directory: dirname(link), gitDirectory };
}

/** Returns the text of a file of git; empty if it is missing. */
function readText(path: string): string {
  const bytes = readSmallFile(path, { maxBytes: MAX_FILE_BYTES, verifyPath: false });
  return new TextDecoder().decode(bytes).trim();
}

/** Returns a sentence if something stays. */
async function removeLeft(main: GitPlace, left: LeftWorktree): Promise<string | undefined> {
  const { directory, gitDirectory, owner } = left;
  const globalArgs = [`--git-dir=${gitDirectory}`, `--work-tree=${directory}`];
  try {
    if (getOwnerState(owner) === "unknown") {
      throw new StepError("its process is on another machine or in another container");
    }
    const tree: GitPlace = { ...main, globalArgs };
    const tip = await checkCommitted(tree, directory);
    await runGit(main, ["worktree", "unlock", "--", directory]);
    const remove = ["worktree", "remove", "--force", "--", directory];
    requireOutput(await runGit(main, remove), "git cannot remove it");
    if (tip.commit !== owner.base) {
      return `The worktree ${directory} of a process that has crashed was removed; its commits are on the branch "${tip.branch}".`;
    }
    await runGit(main, ["branch", "-D", "--quiet", "--", tip.branch]);
    return undefined;
  } catch (thrown) {
    if (readText(join(gitDirectory, "gitdir")) === "") return undefined; // Another process has removed it.
    return `The worktree ${directory} of a process that has crashed was kept: ${
      getErrorMessage(thrown)
    }.`;
  }
}

/** Returns the branch of a worktree and its latest commit; throws if anything in it is not committed there. */
async function checkCommitted(
  tree: GitPlace,
  directory: string,
): Promise<{ readonly branch: string; readonly commit: string }> {
  const head = await runGit(tree, ["symbolic-ref", "--quiet", "HEAD"]);
  const reference = head.type === "done" ? head.output.trim() : "";
  if (!reference.startsWith(BRANCHES)) {
    throw new StepError("another branch or commit is checked out in it");
  }
  const changes = isMissing(directory) ? [] : await listChanges(tree);
  if (changes.length > 0) throw new StepError("it has changes that are not committed");
  await checkNestedRepositories(tree, directory);
  const commit = await runGit(tree, ["rev-parse", "--verify", "--quiet", reference]);
  return {
    branch: reference.slice("refs/heads/".length),
    commit: requireOutput(commit, "git cannot read the branch").trim(),
  };
}
