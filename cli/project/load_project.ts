/**
 * The files of a project and of the user that a run uses.
 *
 * @module
 */

import { pathExists } from "../../src/platform/path_exists.ts";
import { join } from "../../src/platform/paths.ts";
import type { FoundSkills, Skill } from "../../src/tools/mod.ts";
import { importLate } from "../host/import_late.ts";
import type { Project } from "./project.ts";
import { listSkillDirectories } from "./project_content.ts";
// Imported with the others: importing a module later takes as long as importing 30 now.
import { readGitState } from "./read_git_state.ts";
import { type InstructionFile, type Instructions, readInstructions } from "./read_instructions.ts";

/** The files of a project, after they were read. Paths are relative to its root. */
export interface LoadedProject {
  /** Absolute path of the root; `null` without a project. */
  readonly root: string | null;
  /** Instructions for the agent. */
  readonly instructions: readonly InstructionFile[];
  /** Skills of the project and of the user. */
  readonly skills: readonly Skill[];
  /** State of its Git repository, if it has one. */
  readonly gitState?: string | undefined;
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
  skills: [],
  loaded: [],
  ignored: [],
  problems: [],
};

/**
 * Reads the files of a project that the user trusts, and the skills of the user.
 *
 * @param project The project; nothing is read without one.
 * @param home Absolute path of the home directory, if there is one.
 */
export async function loadProject(
  project: Omit<Project, "programs"> | undefined,
  home: string | undefined,
): Promise<LoadedProject> {
  if (!project) return NO_PROJECT;
  const { root, content, isTrusted } = project;
  const roots = [...(isTrusted ? [root] : []), ...(home ? [home] : [])];
  const directories = new Set(roots.flatMap(listSkillDirectories));
  const [instructions, found, gitState] = await Promise.all([
    loadInstructions(project),
    loadSkills([...directories]),
    loadGitState(project),
  ]);
  const paths = instructions.files.map(({ path }) => path);
  const others = isTrusted ? content.filter((name) => !name.endsWith(".md")) : [];
  return {
    root,
    instructions: instructions.files,
    skills: found.skills,
    gitState,
    loaded: [...paths, ...others],
    ignored: isTrusted ? [] : content,
    problems: [
      ...instructions.problems,
      ...found.problems.map(({ directory, problem }) =>
        `skill ${directory} was not loaded: ${problem}`
      ),
    ],
  };
}

async function loadInstructions(
  { root, directory, content, isTrusted }: Omit<Project, "programs">,
): Promise<Instructions> {
  if (!isTrusted || content.length === 0) return { files: [], problems: [] };
  return await readInstructions(root, directory);
}

async function loadGitState(
  { root, isTrusted }: Pick<Project, "root" | "isTrusted">,
): Promise<string | undefined> {
  if (!isTrusted || !pathExists(join(root, ".git"))) return undefined;
  return await readGitState(root);
}

async function loadSkills(
  directories: readonly string[],
): Promise<FoundSkills> {
  if (directories.length === 0) return { skills: [], problems: [] };
  const { findSkills } = await importLate<typeof import("../../src/tools/skills.ts")>(
    "../../src/tools/skills.ts",
    import.meta.url,
  );
  return await findSkills(directories);
}
