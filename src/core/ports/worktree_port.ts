/**
 * The port through which sub-agents get copies of a repository, so that their changes do not meet.
 *
 * @module
 */

/** Options for {@linkcode WorktreePort.create}. */
export interface WorktreeOptions {
  /** Name of the kind of sub-agent, of which the names of the branch and the directory are made. */
  readonly name: string;
  /** Cancels the creation. Default: it cannot be cancelled. */
  readonly signal?: AbortSignal | undefined;
}

/** A working directory with a branch of its own. */
export interface Worktree {
  /** Absolute path of the directory in which the sub-agent works: that of the run, in the copy. */
  readonly directory: string;
  /** Absolute path of the complete copy, if the directory is below it. Default: the directory. */
  readonly root?: string | undefined;
  /** Name of the branch. */
  readonly branch: string;
  /** Removes the directory and the branch if nothing has changed, and otherwise keeps the changes. Never rejects. */
  readonly remove: () => Promise<WorktreeEnd>;
}

/** The state of a worktree after its use; `summary` describes its changes, and `reason` a failure, after which it is kept. */
export type WorktreeEnd =
  | { readonly type: "removed" }
  | { readonly type: "kept"; readonly summary: string }
  | { readonly type: "failed"; readonly reason: string };

/** A created worktree, or the reason why there is none. */
export type WorktreeCreation =
  | {
    readonly type: "created";
    readonly worktree: Worktree;
    /** Worktrees that an earlier process has left, as sentences. Default: none. */
    readonly notices?: readonly string[];
  }
  | { readonly type: "failed"; readonly reason: string };

/** Creates worktrees. */
export interface WorktreePort {
  /** Creates a worktree with the latest commit of the repository. Failures are values; it never rejects. */
  create(options: WorktreeOptions): Promise<WorktreeCreation>;
}
