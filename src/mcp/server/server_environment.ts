/**
 * The environment of a server that is a program.
 *
 * @module
 */

import { system } from "../../platform/system.ts";

/** Variables that programs need to run, and that hold no secrets. All others must be named in the configuration. */
const BASE_VARIABLES: readonly string[] = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "TZ",
  // Required by programs on Windows.
  "SystemRoot",
  "ComSpec",
  "PATHEXT",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
];

/** Creates the environment of a program. */
export function createServerEnvironment(
  named: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  for (const name of BASE_VARIABLES) {
    const value = readVariable(name);
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...named };
}

/** Reads a variable of this program; `undefined` when it is not set or may not be read. */
function readVariable(name: string): string | undefined {
  try {
    return system.env.get(name);
  } catch {
    return undefined;
  }
}
