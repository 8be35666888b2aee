/**
 * Worktrees of a git repository.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type {
  Worktree,
  WorktreeCreation,
  WorktreeEnd,
  WorktreeOptions,
  WorktreePort,
} from "../../core/ports/worktree_port.ts";
import { basename, dirname, getRelativePath, isAbsolute, join } from "../../platform/paths.ts";
import { PathLocks } from "../changes/path_locks.ts";
import { type GitPlace, runGit } from "./git_program.ts";
import {
  checkNestedRepositories,
  listChanges,
  listSubmodules,
  requireOutput,
  StepError,
} from "./git_steps.ts";
import { removeLeftWorktrees } from "./left_worktrees.ts";
import { toSafeName } from "./safe_name.ts";
import { createOwner, encodeOwner } from "./worktree_owner.ts";

/** Options for {@linkcode gitWorktrees}. */
export interface GitWorktreesOptions {
  /**
   * Absolute path of the repository, or of a directory in it: a sub-agent works in the same directory of its worktree. Pass
   * the working directory of the run, since its rules about paths apply to the same relative paths.
   */
  readonly repository: string;
  /**
   * Absolute path of the directory for worktrees, outside of the repository; created if it is missing. Default: a directory
   * next to the repository, with its name and `.worktrees`.
   */
  readonly directory?: string | undefined;
  /** The program: a path, or a name that is looked up in `PATH`. Default: `git`. */
  readonly program?: string | undefined;
  /** Creates the unique end of a name, of letters and digits. Default: eight random ones. */
  readonly newId?: (() => string) | undefined;
}

/**
 * Creates worktrees of a git repository, each on a new branch at the latest commit: `swink/<name>-<id>`.
 *
 * `create()` fails, with the reason as a value, when git is not installed, when there is no repository or no commit, and
 * when the repository has changes that are not committed, since a worktree would lack them. `remove()` commits what has
 * changed in the worktree, and keeps it with its branch; a worktree without changes is removed with its branch. Ignored
 * files are no changes. Nothing is merged.
 *
 * A worktree of a process that has crashed is removed by the first `create()` of a later process, if everything in it is
 * committed; its branch stays if it has commits. Others are kept, and named in the `notices` of the result.
 *
 * Hooks of the repository do not run. The program `git` runs unconfined, with the rights of this process.
 *
 * @throws {BadRequestError} If an option is invalid.
 *
 * @example
 * ```ts ignore
 * import { createSandbox, codingTools, gitWorktrees } from "@swink/agent/tools";
 * import { subAgentTool } from "@swink/agent/sub-agents";
 *
 * const develop = subAgentTool({
 *   name: "develop",
 *   description: "Makes a change on a branch of its own. The prompt describes the change.",
 *   worktrees: gitWorktrees({ repository: "/work/project" }),
 *   worktreeTools: ({ directory }) => {
 *     const sandbox = createSandbox({ cwd: directory });
 *     return { tools: codingTools({ sandbox }), resource: sandbox };
 *   },
 * });
 * ```
 */
export function gitWorktrees(options: GitWorktreesOptions): WorktreePort {
  checkNames(options, ["repository", "directory", "program", "newId"], "gitWorktrees()");
  for (const path of [options.repository, options.directory]) {
    if (path === undefined && path !== options.repository) continue;
    if (typeof path === "string" && isAbsolute(path)) continue;
    throw new BadRequestError(`A path of gitWorktrees() must be absolute, not ${String(path)}`);
  }
  return new GitWorktrees(options);
}

/** By repository: git reads all worktrees when it adds or removes one, and fails for one that is not complete yet. */
const locks = new PathLocks();

class GitWorktrees implements WorktreePort {
  readonly #options: GitWorktreesOptions;
  #hasRemovedLeft = false;

  constructor(options: GitWorktreesOptions) {
    this.#options = options;
  }

  async create({ name, signal }: WorktreeOptions): Promise<WorktreeCreation> {
    try {
      return await this.#create(name, signal);
    } catch (thrown) {
      return { type: "failed", reason: getErrorMessage(thrown) };
    }
  }

  async #create(name: string, signal: AbortSignal | undefined): Promise<WorktreeCreation> {
    const { repository, program = "git", newId = createId } = this.#options;
    const place: GitPlace = { program, cwd: repository };
    const root = await findRoot(place, signal);
    const main: GitPlace = { program, cwd: root };
    const base = await findCommit(main, signal);
    const prefix = await findPrefix(place, { base, signal });
    await checkClean(main, signal);
    const parent = this.#options.directory ?? join(dirname(root), `${basename(root)}.worktrees`);
    if (getRelativePath(root, parent) !== undefined) {
      throw new StepError(
        `The directory for worktrees ${parent} is in the repository: choose one outside of it`,
      );
    }
    const notices = await locks.run(root, () => this.#removeLeft(main, parent));
    const ownName = `${toSafeName(name)}-${toSafeName(newId())}`;
    const branch = `swink/${ownName}`;
    const directory = join(parent, ownName);
    await locks.run(root, () => addWorktree(main, { branch, directory, base }, signal));
    // The file `.git` of the worktree could be replaced by then: git would run the programs that another one names.
    const own = await runGit({ program, cwd: directory }, ["rev-parse", "--absolute-git-dir"]);
    const gitDirectory = requireOutput(own, "git cannot read the worktree").trim();
    const globalArgs = [`--git-dir=${gitDirectory}`, `--work-tree=${directory}`];
    const tree: GitPlace = { program, cwd: root, globalArgs };
    let removal: Promise<WorktreeEnd> | undefined;
    const remove = () => removal ??= endWorktree({ main, tree, directory, branch, base });
    const worktree: Worktree = prefix === ""
      ? { directory, branch, remove }
      : { directory: join(directory, prefix), root: directory, branch, remove };
    return { type: "created", worktree, ...(notices.length > 0 && { notices }) };
  }

  /** Removes the worktrees of processes that have crashed, once; returns which were kept or could not be removed. */
  async #removeLeft(main: GitPlace, directory: string): Promise<readonly string[]> {
    if (this.#hasRemovedLeft) return [];
    this.#hasRemovedLeft = true;
    return await removeLeftWorktrees(main, directory);
  }
}

/** Maximum number of attempts to create a worktree while other processes create some. */
const MAX_ATTEMPTS = 3;

/** Creates and locks a worktree with a new branch. */
async function addWorktree(
  main: GitPlace,
  { branch, directory, base }: Pick<OpenWorktree, "branch" | "directory" | "base">,
  signal: AbortSignal | undefined,
): Promise<void> {
  const reference = `refs/heads/${branch}`;
  const known = await runGit(main, ["rev-parse", "--verify", "--quiet", reference], signal);
  if (known.type === "done") throw new StepError(`the branch "${branch}" already exists`);
  const add = ["worktree", "add", "--quiet", "-b", branch, "--", directory, base];
  // Filters may download large files.
  const unlimited: GitPlace = { ...main, timeoutMs: null };
  let outcome = await runGit(unlimited, add, signal);
  for (let attempt = 1; outcome.type === "failed"; attempt++) {
    // Git creates the branch first, and does not remove it.
    await runGit(main, ["branch", "-D", "--quiet", "--", branch]);
    if (attempt === MAX_ATTEMPTS || !/failed to read/.test(outcome.reason)) {
      throw new StepError(`git cannot create the worktree: ${outcome.reason}`);
    }
    outcome = await runGit(unlimited, add, signal);
  }
  const lock = ["worktree", "lock", "--reason", encodeOwner(createOwner(base)), "--", directory];
  requireOutput(await runGit(main, lock), "git cannot lock the worktree");
}

async function findRoot(place: GitPlace, signal: AbortSignal | undefined): Promise<string> {
  const outcome = await runGit(place, ["rev-parse", "--show-toplevel"], signal);
  if (outcome.type === "done") return outcome.output.replace(/\r?\n$/, "");
  if (outcome.isMissing) {
    throw new StepError(
      `The program "${place.program}" cannot be started in ${place.cwd}: install git, and check that the directory exists`,
    );
  }
  if (signal?.aborted) throw new StepError(outcome.reason);
  throw new StepError(
    `${place.cwd} is not in the working tree of a git repository: create one with "git init" (${outcome.reason})`,
  );
}

/** Returns the path of a directory in its repository; empty for the repository itself. */
async function findPrefix(
  place: GitPlace,
  { base, signal }: { readonly base: string; readonly signal: AbortSignal | undefined },
): Promise<string> {
  const outcome = await runGit(place, ["rev-parse", "--show-prefix"], signal);
  const prefix = requireOutput(outcome, "git cannot find the directory").replace(/\/?\r?\n$/, "");
  if (prefix === "") return "";
  const type = await runGit(place, ["cat-file", "-t", `${base}:${prefix}`], signal);
  if (type.type === "done" && type.output.trim() === "tree") return prefix;
  throw new StepError(
    `The directory ${place.cwd} has no committed files, so that a worktree would lack it: commit some`,
  );
}

async function findCommit(place: GitPlace, signal: AbortSignal | undefined): Promise<string> {
  const outcome = await runGit(
    place,
    ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"],
    signal,
  );
  if (outcome.type === "done") return outcome.output.trim();
  throw new StepError(
    `The git repository ${place.cwd} has no commits: a worktree begins with the latest commit, so make one first`,
  );
}

/** Maximum number of files in the message about uncommitted changes. */
const MAX_LISTED = 5;

async function checkClean(place: GitPlace, signal: AbortSignal | undefined): Promise<void> {
  const changes = await listChanges(place, signal);
  if (changes.length === 0) return;
  const listed = changes.slice(0, MAX_LISTED).map((line) => JSON.stringify(line.slice(3)));
  const more = changes.length > MAX_LISTED ? `, and ${changes.length - MAX_LISTED} more` : "";
  throw new StepError(
    `The git repository ${place.cwd} has changes that are not committed, which a worktree would lack: ` +
      `commit or stash them (${listed.join(", ")}${more})`,
  );
}

/** A worktree, with the places in which git is called for it. */
interface OpenWorktree {
  /** The repository. */
  readonly main: GitPlace;
  /** The worktree. */
  readonly tree: GitPlace;
  readonly directory: string;
  readonly branch: string;
  /** The commit that it began with. */
  readonly base: string;
}

async function endWorktree(worktree: OpenWorktree): Promise<WorktreeEnd> {
  const { main, tree, directory, branch, base } = worktree;
  try {
    const reference = `refs/heads/${branch}`;
    const head = await runGit(tree, ["symbolic-ref", "--quiet", "HEAD"]);
    if (head.type === "failed" || head.output.trim() !== reference) {
      throw new StepError("another branch or commit is checked out in it");
    }
    if ((await listChanges(tree)).length > 0) await commitChanges(tree, branch);
    await checkNestedRepositories(tree, directory);
    const tip = requireOutput(
      await runGit(tree, ["rev-parse", reference]),
      "git cannot read the branch",
    );
    await locks.run(main.cwd, () => runGit(main, ["worktree", "unlock", "--", directory]));
    if (tip.trim() !== base) {
      return { type: "kept", summary: await summarizeChanges(tree, base, reference) };
    }
    return await locks.run(main.cwd, () => removeWorktree(main, { directory, branch }));
  } catch (thrown) {
    return { type: "failed", reason: getErrorMessage(thrown) };
  }
}

async function removeWorktree(
  main: GitPlace,
  { directory, branch }: Pick<OpenWorktree, "directory" | "branch">,
): Promise<WorktreeEnd> {
  const remove = ["worktree", "remove", "--force", "--", directory];
  requireOutput(await runGit(main, remove), "git cannot remove it");
  requireOutput(
    await runGit(main, ["branch", "-D", "--quiet", "--", branch]),
    "git cannot delete it",
  );
  return { type: "removed" };
}

async function commitChanges(tree: GitPlace, branch: string): Promise<void> {
  // `git add` would run git in submodules, with settings that the agent may have made and that name programs.
  const submodules = await listSubmodules(tree);
  const excluded = submodules.map((path) => `:(exclude,top,literal)${path}`);
  const add = ["add", "--all", "--", ":(top)", ...excluded];
  const withMagic = { ...tree, globalArgs: [...tree.globalArgs ?? [], "--no-literal-pathspecs"] };
  requireOutput(await runGit(withMagic, add), "git cannot add the changes");
  const identity = ["-c", "user.name=swink", "-c", "user.email=swink@localhost"];
  const message = `Changes of the agent on ${branch}`;
  const commit = ["commit", "--quiet", "--no-verify", "--message", message];
  const globalArgs = [...tree.globalArgs ?? [], ...identity];
  requireOutput(await runGit({ ...tree, globalArgs }, commit), "git cannot commit the changes");
}

/** Maximum length of a summary, in characters. */
const MAX_SUMMARY_LENGTH = 4_000;

async function summarizeChanges(tree: GitPlace, base: string, tip: string): Promise<string> {
  const diff = ["diff", "--stat=100", "--stat-count=50", "--no-ext-diff", "--no-textconv"];
  const summary = requireOutput(
    await runGit(tree, [...diff, base, tip, "--"]),
    "git cannot compare",
  );
  return summary.trimEnd().slice(0, MAX_SUMMARY_LENGTH);
}

function createId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 8);
}
