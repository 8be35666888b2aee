/**
 * The sandbox through which tools use files and commands.
 *
 * @module
 */

import type { ProcessExit } from "../process/running_process.ts";
import type { SecretFiles } from "./find_secret_files.ts";
import type { SandboxFiles } from "./sandbox_files.ts";
import type { SandboxReport } from "./sandbox_report.ts";

/** Network access of commands: all, none, or a list of hosts (`example.org`, `*.example.org`, either with `:port`). */
export type SandboxNet = "on" | "off" | readonly string[];

/** A running shell command. */
export interface SandboxCommand {
  /** Id of the process and of its group. */
  readonly pid: number;
  /** Standard output and errors, in the order of writing. */
  readonly output: ReadableStream<Uint8Array>;
  /** Resolves when the shell itself has ended; its children may still run. */
  readonly exited: Promise<ProcessExit>;
  /** Files and directories that it cannot read, in a read-only sandbox. Default: none. */
  readonly hidden?: SecretFiles;
  /** Ends the process group: SIGTERM, then SIGKILL after `graceMs` milliseconds. */
  terminate(graceMs: number): Promise<void>;
  /**
   * Kills processes that left the group, and undoes changes to the hooks and the configuration of git. Call it after the
   * shell has ended.
   */
  finish(): Promise<FinishedCommand>;
}

/** The state after a command. */
export interface FinishedCommand {
  /** Final working directory of the shell, if it is known. */
  readonly workingDirectory?: string;
  /** Paths of hooks and configuration of git that the command had changed. */
  readonly restoredFiles?: readonly string[];
}

/** Files and commands for tools. `createSandbox()` creates one on this machine; other implementations are possible. */
export interface Sandbox extends AsyncDisposable {
  /** Canonical path of the working directory. */
  readonly root: string;
  /**
   * Whether its commands cannot change anything, and are refused where that cannot be enforced. `bash` is then a tool for
   * plan mode. Default: `false`.
   */
  readonly readOnly?: boolean;
  /**
   * Whether its commands cannot read the files in its roots that usually hold secrets, and are refused where that cannot be
   * enforced. An approval gate then asks about fewer of them. Default: `false`.
   */
  readonly hidesSecrets?: boolean;
  /** Access to files. */
  readonly files: SandboxFiles;
  /**
   * Starts a shell command.
   *
   * @param options `cwd` is the working directory. Default: the root. `signal` aborts the start.
   * @throws {BadRequestError} When confinement is required and not available.
   * @throws {AbortedError} When the signal is aborted before the command has started.
   */
  startCommand(
    command: string,
    options?: { readonly cwd?: string; readonly signal?: AbortSignal },
  ): Promise<SandboxCommand>;
  /** Returns a path that the file tools can read and no command can write, in an existing directory. */
  getOutputPath(name: string): Promise<string>;
  /** Network access of commands. */
  readonly net: SandboxNet;
  /** Changes the network access of commands that are started later. @throws {BadRequestError} If the value is none. */
  setNet(net: SandboxNet): void;
  /** Reports which rules the kernel enforces, which this program enforces, and which are not enforced. */
  describe(): Promise<SandboxReport>;
}
