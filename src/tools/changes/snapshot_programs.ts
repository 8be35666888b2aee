/**
 * Runs git and `find` for the snapshots of a work tree.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { type Launch, type RunningProcess, startProcess } from "../process/running_process.ts";
import { watchProcess } from "../process/watch_process.ts";
import { concatenate } from "./program_output.ts";
/** Maximum size of an output: of all changed files that are recorded together. */
const MAX_OUTPUT_BYTES = 200_000_000;

/** Time limit of each program. */
const TIMEOUT_MS = 20_000;

/** Exit code of git after an error that ends it. */
const FATAL_ERROR = 128;

/** Options for {@linkcode SnapshotPrograms}. */
export interface SnapshotProgramsOptions {
  /** Starts a program that reads the contents of files, with the rights of commands and those to write a directory. */
  readonly startReader: (
    launch: Launch,
    options: { readonly directory: string },
  ) => Promise<RunningProcess>;
  /** Returns the value of `PATH` for git, without directories that commands can write. */
  readonly getProgramPath: () => string;
}

/** Options for one program. */
export interface ProgramOptions {
  /** Ends the program. */
  readonly signal: AbortSignal;
  /** Its standard input. Default: none. */
  readonly input?: string;
  /** Highest exit code that is no failure. Default: 0. */
  readonly maxCode?: number;
}

/** Options for git. */
export interface GitOptions extends ProgramOptions {
  /** Directory in which git stores the snapshots. */
  readonly directory: string;
}

/** Runs programs in a work tree. They fail with a `BadRequestError` when they are missing or take too long. */
export class SnapshotPrograms {
  readonly #root: string;
  readonly #options: SnapshotProgramsOptions;

  /** @param root Canonical path of the work tree. */
  constructor(root: string, options: SnapshotProgramsOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** Runs a program and returns its output. */
  async run(
    program: string,
    args: readonly string[],
    options: ProgramOptions,
  ): Promise<Uint8Array> {
    return await this.#runLaunch(this.#createLaunch(program, args, options), options);
  }

  /** Runs git with the directory of the snapshots and without settings of the user; returns its output. */
  async git(args: readonly string[], options: GitOptions): Promise<Uint8Array> {
    return await this.#runLaunch(this.#createGitLaunch(args, options), options);
  }

  /**
   * Runs `git add`, which reads the contents of files, with the rights of commands. Returns whether git stores the files,
   * without those that it cannot read.
   */
  async gitAdd(
    args: readonly string[],
    { signal, directory }: Pick<GitOptions, "signal" | "directory">,
  ): Promise<boolean> {
    const launch = this.#createGitLaunch(["add", ...args], { signal, directory });
    const process = await this.#options.startReader(launch, { directory });
    const accepts = (code: number) => code <= 1 || code === FATAL_ERROR;
    const { code } = await this.#watch(process, { launch, signal, accepts });
    return code !== FATAL_ERROR;
  }

  #createGitLaunch(args: readonly string[], { directory, input }: GitOptions): Launch {
    return this.#createLaunch("git", args, {
      input,
      env: {
        GIT_DIR: directory,
        GIT_WORK_TREE: this.#root,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_DEFAULT_HASH: "sha1",
        GIT_TERMINAL_PROMPT: "0",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_ATTR_NOSYSTEM: "1",
        LC_ALL: "C",
        HOME: directory,
      },
    });
  }

  #createLaunch(
    program: string,
    args: readonly string[],
    { input, env = {} }: {
      readonly input?: string | undefined;
      readonly env?: Readonly<Record<string, string>>;
    },
  ): Launch {
    return {
      program,
      args,
      cwd: this.#root,
      env: { PATH: this.#options.getProgramPath(), ...env },
      ...(input !== undefined && { input }),
    };
  }

  async #runLaunch(launch: Launch, { signal, maxCode = 0 }: ProgramOptions): Promise<Uint8Array> {
    const accepts = (code: number) => code <= maxCode;
    const { output } = await this.#watch(startProcess(launch), { launch, signal, accepts });
    return output;
  }

  /** Waits until a program exits with an accepted code. */
  async #watch(
    process: RunningProcess,
    { launch: { program, args }, signal, accepts }: {
      readonly launch: Launch;
      readonly signal: AbortSignal;
      readonly accepts: (code: number) => boolean;
    },
  ): Promise<{ readonly code: number; readonly output: Uint8Array }> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const outcome = await watchProcess(process, {
      signal,
      timeoutMs: TIMEOUT_MS,
      onOutput(chunk) {
        bytes += chunk.length;
        if (bytes <= MAX_OUTPUT_BYTES) chunks.push(chunk);
      },
    });
    signal.throwIfAborted();
    if (outcome.type === "exited" && accepts(outcome.exit.code)) {
      return { code: outcome.exit.code, output: concatenate(chunks) };
    }
    const reason = outcome.type === "timed_out" ? "takes too long" : "failed";
    throw new BadRequestError(`${program} ${args[0]} ${reason} in ${JSON.stringify(this.#root)}`);
  }
}
