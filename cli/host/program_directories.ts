/**
 * The directories in which the program keeps its files, by the conventions of the operating system.
 *
 * @module
 */

import { isAbsolute, join } from "../../src/platform/paths.ts";
import { ConfigurationError } from "./cli_error.ts";
import type { Host } from "./host.ts";

/** Absolute paths of the program's directories; they need not exist. */
export interface ProgramDirectories {
  /** Configuration, which a user edits and keeps. */
  readonly config: string;
  /** Sessions, history and trust: data that the program writes. */
  readonly state: string;
}

/**
 * Returns the directories of the program: those of `XDG_CONFIG_HOME` and `XDG_STATE_HOME` where they are set, else the
 * usual ones of the system. `undefined` for a user without a home directory, for whom nothing is kept.
 *
 * @param os Name of the operating system, as in `Deno.build.os`.
 */
export function getProgramDirectories(
  env: Host["env"],
  os: string = Deno.build.os,
): ProgramDirectories | undefined {
  const defaults = getDefaultDirectories(env, os);
  const config = getBaseDirectory(env("XDG_CONFIG_HOME")) ?? defaults?.config;
  const state = getBaseDirectory(env("XDG_STATE_HOME")) ?? defaults?.state;
  if (config === undefined || state === undefined) return undefined;
  return { config: join(config, "swink"), state: join(state, "swink") };
}

/** Returns the home directory of the user; `undefined` if no variable names it. */
export function getHomeDirectory(env: Host["env"]): string | undefined {
  return env("HOME") || env("USERPROFILE") || undefined;
}

/**
 * Returns the directories of the program.
 *
 * @param content The things that are kept there, for the message: `sessions`.
 * @throws {ConfigurationError} For a user without a home directory.
 */
export function requireProgramDirectories(content: string, env: Host["env"]): ProgramDirectories {
  const directories = getProgramDirectories(env);
  if (directories) return directories;
  throw createNoHomeError(content);
}

/** Creates the error for a user without a home directory; `content` are the things that would be kept there. */
export function createNoHomeError(content: string): ConfigurationError {
  return new ConfigurationError(
    `There is no home directory for ${content}`,
    "Set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME, to absolute paths.",
  );
}

function getDefaultDirectories(env: Host["env"], os: string): ProgramDirectories | undefined {
  if (os === "windows") {
    const config = getBaseDirectory(env("APPDATA"));
    const state = getBaseDirectory(env("LOCALAPPDATA")) ?? config;
    return config === undefined || state === undefined ? undefined : { config, state };
  }
  const home = getBaseDirectory(env("HOME"));
  if (home === undefined) return undefined;
  if (os === "darwin") {
    const support = join(home, "Library", "Application Support");
    return { config: support, state: support };
  }
  return { config: join(home, ".config"), state: join(home, ".local", "state") };
}

/** The XDG specification ignores paths that are not absolute. */
function getBaseDirectory(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
