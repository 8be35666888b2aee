/**
 * The files of a project that the program loads: instructions, configuration, servers and skills.
 *
 * @module
 */

import { pathExists } from "../../src/platform/path_exists.ts";
import { getRelativePath, join } from "../../src/platform/paths.ts";
import { readUntrustedFile } from "../../src/platform/untrusted_file.ts";
import type { UntrustedRead } from "../../src/platform/untrusted_read.ts";
import { listDirectories } from "./project_root.ts";

/** Names of files with instructions, in order of preference; the first one that a directory has is read. */
export const INSTRUCTION_NAMES = ["AGENTS.md", "CLAUDE.md"] as const;

/** Files in the root of a project that start programs. */
export const PROGRAM_FILES = { config: ".swink/config.toml", servers: ".mcp.json" } as const;

/** Names of files and directories that the program loads from the root of a project. */
const ROOT_NAMES = [PROGRAM_FILES.config, ".swink/commands", PROGRAM_FILES.servers] as const;

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

/** Maximum size of a file that starts programs, in bytes. */
const MAX_PROGRAM_BYTES = 1_000_000;

/**
 * The files of a project that start programs: hooks, outside of the sandbox, and MCP servers.
 *
 * An agent may have written them, and may change them at any time: they are read once, and what is loaded is what the user
 * has trusted.
 */
export interface ProjectPrograms {
  /** Absolute path of the root of the project, without links. */
  readonly root: string;
  /** The configuration, with hooks. */
  readonly config: UntrustedRead;
  /** The MCP servers. */
  readonly servers: UntrustedRead;
}

/** Reads the files of a project that start programs. `root` is absolute and without links. */
export async function readProjectPrograms(root: string): Promise<ProjectPrograms> {
  const read = (name: string) =>
    readUntrustedFile(join(root, name), { within: root, maxBytes: MAX_PROGRAM_BYTES });
  const [config, servers] = await Promise.all([
    read(PROGRAM_FILES.config),
    read(PROGRAM_FILES.servers),
  ]);
  return { root, config, servers };
}

/** Returns the directories with skills that a project or a home directory has. */
export function listSkillDirectories(directory: string): string[] {
  return SKILL_DIRECTORIES.map((name) => join(directory, name)).filter(pathExists);
}
