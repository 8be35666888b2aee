/**
 * The files of a project that the program loads: instructions, configuration, servers and skills.
 *
 * @module
 */

import { pathExists } from "../../src/platform/path_exists.ts";
import { getRelativePath, join } from "../../src/platform/paths.ts";
import { listDirectories } from "./project_root.ts";

/** Names of files with instructions, in order of preference; the first one that a directory has is read. */
export const INSTRUCTION_NAMES = ["AGENTS.md", "CLAUDE.md"] as const;

/** Names of files and directories that the program loads from the root of a project. */
const ROOT_NAMES = [".swink/config.toml", ".swink/commands", ".mcp.json"] as const;

/** Directories with skills, relative to the root of a project or to the home directory. */
const SKILL_DIRECTORIES = [".agents/skills", ".swink/skills", ".claude/skills"] as const;

/**
 * Returns the paths, relative to the root of a project, of the files that the program loads for a directory.
 *
 * @param root Absolute path of the root of the project.
 * @param directory Absolute path of a directory within the root.
 */
export function listProjectContent(root: string, directory: string): string[] {
  const instructions = listDirectories(root, directory).flatMap((parent) => {
    const paths = INSTRUCTION_NAMES.map((name) => join(parent, name));
    return paths.filter(pathExists).slice(0, 1).flatMap((path) =>
      getRelativePath(root, path) ?? []
    );
  });
  const names = [...ROOT_NAMES, ...SKILL_DIRECTORIES];
  return [...instructions, ...names.filter((name) => pathExists(join(root, name)))];
}

/** Returns the directories with skills that a project or a home directory has. */
export function listSkillDirectories(directory: string): string[] {
  return SKILL_DIRECTORIES.map((name) => join(directory, name)).filter(pathExists);
}
