/**
 * The places of configuration files.
 *
 * @module
 */

import { join } from "../../src/platform/paths.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";

/** Name of the configuration file. */
const FILE_NAME = "config.toml";

/** Returns the path of the user's configuration file. */
export function getUserConfigPath({ config }: ProgramDirectories): string {
  return join(config, FILE_NAME);
}

/** Returns the path of a project's configuration file. */
export function getProjectConfigPath(root: string): string {
  return join(root, ".swink", FILE_NAME);
}
