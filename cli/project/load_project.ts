/**
 * The files of a project that a run uses.
 *
 * @module
 */

import { importLate } from "../host/import_late.ts";
import type { Project } from "./project.ts";
import type { InstructionFile } from "./read_instructions.ts";

/** The files of a project, after they were read. Paths are relative to its root. */
export interface LoadedProject {
  /** Absolute path of the root; `null` without a project. */
  readonly root: string | null;
  /** Instructions for the agent. */
  readonly instructions: readonly InstructionFile[];
  /** The files that were loaded. */
  readonly loaded: readonly string[];
  /** The files that were not loaded because the user does not trust the project. */
  readonly ignored: readonly string[];
  /** Files that could not be read, as sentences without a full stop. */
  readonly problems: readonly string[];
}

/** A run without a project. */
export const NO_PROJECT: LoadedProject = {
  root: null,
  instructions: [],
  loaded: [],
  ignored: [],
  problems: [],
};

/** Reads the files of a project that the user trusts. */
export async function loadProject(project: Project | undefined): Promise<LoadedProject> {
  if (!project) return NO_PROJECT;
  const { root, directory, content, isTrusted } = project;
  if (!isTrusted) return { ...NO_PROJECT, root, ignored: content };
  if (content.length === 0) return { ...NO_PROJECT, root };
  const { readInstructions } = await importLate<typeof import("./read_instructions.ts")>(
    "./read_instructions.ts",
    import.meta.url,
  );
  const { files, problems } = await readInstructions(root, directory);
  const paths = files.map(({ path }) => path);
  const others = content.filter((name) => name.endsWith(".toml"));
  return { root, instructions: files, loaded: [...paths, ...others], ignored: [], problems };
}
