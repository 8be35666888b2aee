/**
 * The environment of a server that is a program.
 *
 * @module
 */

import type { Variables } from "../config/expand_variables.ts";

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

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Creates the environment of a program: the base variables of this program, and those that the configuration names. */
export function createServerEnvironment(
  variables: Variables,
  named: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const name of BASE_VARIABLES) {
    const { [name]: value } = variables;
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...named };
}
