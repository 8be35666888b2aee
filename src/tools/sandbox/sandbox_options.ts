/**
 * Options of the sandbox on this machine.
 *
 * @module
 */

import type { SandboxNet } from "./sandbox.ts";

/** Options for `createSandbox()`. */
export interface SandboxOptions {
  /** Working directory: files in it may be read and written. Default: the current directory. */
  readonly cwd?: string | undefined;
  /** Additional directories that may be read and written. */
  readonly writeRoots?: readonly string[] | undefined;
  /**
   * Whether files in the home directory or in a directory above it may be written, with settings that run programs. `allow`
   * also makes the approval gate ask for every command. Default: `refuse`, which throws.
   */
  readonly homeAccess?: "refuse" | "allow" | undefined;
  /** Additional directories that the file tools may read. */
  readonly readRoots?: readonly string[] | undefined;
  /**
   * Globs of files and directories that the file tools may not use, relative to a root or absolute; `!` excludes files.
   * Default: `PROTECTED_FILES`.
   */
  readonly protect?: readonly string[] | undefined;
  /**
   * Files and directories that commands cannot read, in addition to the usual locations of keys and credentials. Relative
   * paths begin in `cwd`. Those that do not exist when a command starts are not hidden from it.
   */
  readonly hide?: readonly string[] | undefined;
  /** Network access of commands. Default: `"off"`. */
  readonly net?: SandboxNet | undefined;
  /** Whether commands may use Unix sockets, and with them daemons that are not confined. Default: `false`. */
  readonly unixSockets?: boolean | undefined;
  /**
   * Whether the kernel confines commands. `auto`: as far as it can, see `Sandbox.describe()`; `required`:
   * commands fail unless all rules can be enforced; `off`: never. Default: `auto`.
   */
  readonly confinement?: "auto" | "required" | "off" | undefined;
  /**
   * Whether commands change nothing: they write no files, keep modes, owners and times, and have no network; they fail
   * unless the kernel can enforce that. Nor do they read the files in the roots that usually hold secrets. The file tools
   * write nothing either. Default: `false`.
   */
  readonly readOnly?: boolean | undefined;
  /** Names of additional variables of this program to pass to commands. */
  readonly passEnvironment?: readonly string[] | undefined;
  /** Environment variables to set for commands. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}
