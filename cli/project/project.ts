/**
 * The project of a run.
 *
 * @module
 */

import type { ProgramDirectories } from "../host/program_directories.ts";
import type { ProjectPrograms } from "./project_content.ts";

/** A project. */
export interface Project {
  /** Absolute path of its root, without links. */
  readonly root: string;
  /** Absolute path of the working directory, without links. */
  readonly directory: string;
  /** Paths, relative to the root, of the files that the program loads from a trusted project. */
  readonly content: readonly string[];
  /** The files that start programs, which are loaded as they were read. */
  readonly programs: ProjectPrograms;
  /** Whether the files are loaded. */
  readonly isTrusted: boolean;
}

/** Options for `openProject()`. */
export interface ProjectOptions {
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** Whether the user trusts the project for this run. */
  readonly trust: boolean;
  /** Whether to ask on a terminal. Default: `true`. */
  readonly asks?: boolean;
  /** The program's directories, which hold the trusted directories. */
  readonly directories: ProgramDirectories | undefined;
  /** Closes the question. */
  readonly signal: AbortSignal;
}
