/**
 * The directory of the models.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isAbsolute, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";

/** Reads an environment variable. */
export type ReadVariable = (name: string) => string | undefined;

/** Reads the environment of this process; a variable that may not be read is not set. */
export function readVariable(name: string): string | undefined {
  try {
    return system.env.get(name) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the directory of the models: `SWINK_MODELS`, else `swink/models` in the directory of the system for data.
 *
 * @throws {BadRequestError} For a user without a home directory.
 */
export function getModelDirectory(env: ReadVariable = readVariable): string {
  const own = env("SWINK_MODELS");
  if (own) return own;
  const data = getDataDirectory(env);
  if (data !== undefined) return join(data, "swink", "models");
  throw new BadRequestError(
    "There is no home directory for models: set SWINK_MODELS to a directory",
  );
}

function getDataDirectory(env: ReadVariable): string | undefined {
  const xdg = env("XDG_DATA_HOME");
  if (xdg && isAbsolute(xdg)) return xdg;
  if (system.build.os === "windows") return env("LOCALAPPDATA");
  const home = env("HOME");
  if (!home) return undefined;
  return system.build.os === "darwin"
    ? join(home, "Library", "Application Support")
    : join(home, ".local", "share");
}
