/**
 * Records the file changes of commands in the change log.
 *
 * @module
 */

import { AbortedError, BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { dirname, isExactPath, join } from "../../platform/paths.ts";
import { getTrustedPath } from "../../platform/trusted_path.ts";
import { isInWritableDirectory } from "../../platform/writable_directories.ts";
import { isWithin } from "../files/file_rules.ts";
import { statIfExists } from "../files/file_stat.ts";
import { readEnvironmentVariable } from "../process/command_environment.ts";
import {
  listHiddenPaths,
  listWritableDirectories,
  startLimitedProgram,
} from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { ChangeLog } from "./change_log.ts";
import { PathLocks } from "./path_locks.ts";
import type { OmittedFiles, SnapshotChanges, TakenSnapshot } from "./snapshot.ts";
import { WorkTreeSnapshots } from "./work_tree_snapshots.ts";

/** Precision of the times of status changes: Deno rounds them down to seconds. */
const CTIME_PRECISION_MS = 1000;

/** Maximum number of names in a reason. */
const MAX_NAMES = 10;

/**
 * Takes a snapshot of the working directory before and after each command.
 *
 * Commands of sub-agents may run at the same time. Then the first one takes the snapshot before, and each one that ends
 * records the changes after the last snapshot: of a file that one of them changes twice, the contents are recorded in
 * order, and an undo restores the one before all of them.
 */
export class CommandChanges {
  readonly #sandbox: Sandbox;
  readonly #changeLog: ChangeLog;
  readonly #locks = new PathLocks();
  #snapshots: WorkTreeSnapshots | undefined;
  /** Number of running commands whose changes are recorded. */
  #running = 0;
  /** Last snapshot: the changes of the running commands after it are not recorded yet. */
  #last: TakenSnapshot | undefined;
  #problem: string | undefined;
  /** The commands whose changes are not recorded yet. */
  readonly #tracked = new Set<Promise<unknown>>();

  constructor(sandbox: Sandbox, changeLog: ChangeLog) {
    this.#sandbox = sandbox;
    this.#changeLog = changeLog;
  }

  /** Runs a command and records its changes. What cannot be undone later is noted in the change log. */
  async track<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const tracked = this.#track(run, signal);
    this.#tracked.add(tracked);
    try {
      return await tracked;
    } finally {
      this.#tracked.delete(tracked);
    }
  }

  /** Resolves when the changes of the commands that run are recorded. The call of one that is aborted ends before. */
  async untilRecorded(): Promise<void> {
    await Promise.allSettled(this.#tracked);
  }

  async #track<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { root } = this.#sandbox;
    if (!await this.#locks.run(root, () => this.#start(signal))) return await run();
    try {
      return await run();
    } finally {
      await this.#locks.run(root, () => this.#finish());
    }
  }

  /** Takes a snapshot, unless a command runs that has done so. Returns whether the changes are recorded. */
  async #start(signal: AbortSignal): Promise<boolean> {
    if (this.#running === 0) this.#last = await this.#attempt(() => this.#take(signal), signal);
    if (this.#last === undefined) return false;
    this.#running++;
    return true;
  }

  async #finish(): Promise<void> {
    await this.#recordChanges();
    this.#running--;
  }

  /**
   * Records the changes of running commands up to now, if they may have changed a file that another tool is about to change:
   * the content from before them must be recorded first.
   *
   * @param path Canonical path of the file.
   */
  async recordRunning(path: string): Promise<void> {
    if (this.#running === 0) return;
    await this.#locks.run(this.#sandbox.root, async () => {
      if (this.#last && await mayHaveChanged(path, this.#last.time)) await this.#recordChanges();
    });
  }

  async #recordChanges(): Promise<void> {
    // The changes of a cancelled command are recorded as well.
    const recording = new AbortController().signal;
    await this.#attempt(() => this.#record(recording), recording);
  }

  /** Takes a snapshot; returns `undefined` and notes the reason when none can be taken this time. */
  async #take(signal: AbortSignal): Promise<TakenSnapshot | undefined> {
    const { root } = this.#sandbox;
    const writable = listWritableDirectories(this.#sandbox);
    const parent = dirname(await this.#sandbox.getOutputPath("snapshots"));
    if (
      isInWritableDirectory(parent) || writable.some((directory) => isWithin(parent, directory))
    ) {
      throw new BadRequestError(`commands can write the directory ${JSON.stringify(parent)}`);
    }
    this.#snapshots ??= new WorkTreeSnapshots(
      root,
      parent,
      {
        listHidden: () => listHiddenPaths(this.#sandbox),
        startReader: (...launch) => startLimitedProgram(this.#sandbox, ...launch),
        getProgramPath: () => getTrustedPath(readEnvironmentVariable("PATH") ?? "", writable),
      },
    );
    const snapshot = await this.#snapshots.take(signal);
    if (snapshot.type === "taken") return snapshot;
    await this.#changeLog.noteUntracked(
      `changes by a command are not recorded: ${snapshot.reason}`,
    );
    return undefined;
  }

  /** Runs a step; a failure is noted once, and later commands are not tracked. */
  async #attempt<T>(step: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    if (this.#problem !== undefined) {
      await this.#changeLog.noteUntracked(this.#problem);
      return undefined;
    }
    try {
      return await step();
    } catch (error) {
      if (signal.aborted) throw new AbortedError("The command was cancelled");
      this.#problem = `changes by commands are not recorded: ${getErrorMessage(error)}`;
      await this.#changeLog.noteUntracked(this.#problem);
      return undefined;
    }
  }

  async #noteOthers(description: string, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const others = paths.length > MAX_NAMES ? ` and ${paths.length - MAX_NAMES} more` : "";
    const names = paths.slice(0, MAX_NAMES).join(", ");
    await this.#changeLog.noteUntracked(`${description}: ${names}${others}`);
  }

  /** Records the changes after the last snapshot. */
  async #record(signal: AbortSignal): Promise<void> {
    const [snapshots, before] = [this.#snapshots, this.#last];
    if (!snapshots || !before) return;
    const after = await this.#take(signal);
    if (after === undefined) return;
    const compared = await snapshots.compare(before, after, signal);
    this.#last = after;
    const { changes, directories } = compared;
    const { root } = this.#sandbox;
    for (const change of changes) {
      const madeDirectories = change.before === null
        ? listNewParents(change.path, directories).map((path) => join(root, path))
        : [];
      await this.#changeLog.record(join(root, change.path), change.before, change.after, {
        madeDirectories,
      });
    }
    await this.#noteUnrecorded(compared, [before.omitted, after.omitted]);
  }

  /** Notes the changes that are not recorded, or may not be. */
  async #noteUnrecorded(
    { older, others, ignored }: SnapshotChanges,
    omitted: readonly OmittedFiles[],
  ): Promise<void> {
    await this.#noteOthers(
      "links, modes and large changes are not undone",
      others.filter(isExactPath),
    );
    await this.#noteOthers(
      "files whose names are not UTF-8 are not undone",
      others.filter((path) => !isExactPath(path)),
    );
    await this.#noteOthers(
      "new files are kept that may be older, or hold files that were not recorded before",
      older,
    );
    await this.#noteOthers("ignored files and secrets are not undone", ignored);
    const large = new Set(omitted.flatMap((files) => files.large));
    await this.#noteOthers("files over 20 MB are not undone", [...large]);
    const repositories = new Set(omitted.flatMap((files) => files.repositories));
    await this.#noteOthers("files in nested repositories are not undone", [...repositories]);
  }
}

/** Whether a file may have been changed or removed after a time. */
async function mayHaveChanged(path: string, time: Date | null): Promise<boolean> {
  const status = await statIfExists(path).catch(() => undefined);
  if (!status?.ctime || time === null) return true;
  return status.ctime.getTime() + CTIME_PRECISION_MS > time.getTime();
}

/** Returns the parents of a path that are not in `directories`, the deepest first. */
function listNewParents(path: string, directories: ReadonlySet<string>): string[] {
  const missing: string[] = [];
  let parent = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
  while (parent !== "" && !directories.has(parent)) {
    missing.push(parent);
    parent = parent.slice(0, Math.max(parent.lastIndexOf("/"), 0));
  }
  return missing;
}
