/**
 * Working directories that hold more than a project: the home directory and those above it.
 *
 * @module
 */

import { dirname } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { isWithin } from "../files/file_rules.ts";
import { readEnvironmentVariable } from "../process/command_environment.ts";

/**
 * Whether a directory is the home directory, contains it, or is the root of the file system.
 *
 * @param home Path of the home directory. Default: the one of the environment.
 */
export function containsHome(directory: string, home = findHome()): boolean {
  const path = resolveLinks(directory);
  if (dirname(path) === path) return true;
  return home !== undefined && isWithin(resolveLinks(home), path);
}

function findHome(): string | undefined {
  return readEnvironmentVariable("HOME") || readEnvironmentVariable("USERPROFILE");
}

function resolveLinks(path: string): string {
  try {
    return system.realPathSync(path);
  } catch {
    return path;
  }
}
