/**
 * The directories with commands of the user and of the project.
 *
 * @module
 */

import { pathExists } from "../../../src/platform/path_exists.ts";
import { join } from "../../../src/platform/paths.ts";
import type { ProgramDirectories } from "../../host/program_directories.ts";
import type { Project } from "../../project/project.ts";

/** Where commands may be. */
export interface CommandPlaces {
  /** The program's directories; undefined for a user without a home directory. */
  readonly directories: ProgramDirectories | undefined;
  /** The project; its commands are loaded if the user trusts it. */
  readonly project?: Pick<Project, "root" | "isTrusted"> | undefined;
}

/** Directory with commands, relative to that of the configuration, and to `.swink` of a project. */
const DIRECTORY = "commands";

/** Lists the directories with commands that exist, that of the project first. */
export function listCommandDirectories({ directories, project }: CommandPlaces): string[] {
  return [
    ...(project?.isTrusted ? [join(project.root, ".swink", DIRECTORY)] : []),
    ...(directories ? [join(directories.config, DIRECTORY)] : []),
  ].filter(pathExists);
}
