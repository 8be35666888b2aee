/**
 * What runs the tests of the sample project on this machine: the deno that runs this program, or what is installed.
 *
 * @module
 */

import { basename, delimiter, dirname, join } from "node:path";
import { ConfigurationError } from "../cli_error.ts";

/** A way to run the tests. */
export interface TestRunner {
  /** The command, for a shell. */
  readonly command: string;
  /** The search path under which the shell finds it. */
  readonly path: string;
}

/**
 * Finds a way to run the tests.
 *
 * @param program The program that runs this one; a compiled `swink` is no deno.
 * @param path The search path of this machine.
 * @throws {ConfigurationError} When there is neither deno nor node.
 */
export function findTestRunner(program: string, path: string): TestRunner {
  if (isDenoPath(program)) {
    return { command: "deno test", path: `${dirname(program)}${delimiter}${path}` };
  }
  if (isInPath(path, "deno")) return { command: "deno test", path };
  if (isInPath(path, "node")) return { command: "node --test", path };
  throw new ConfigurationError(
    "The demo runs real tests, and finds neither deno nor node to run them with",
    "Install one of them, for example: npm install --global deno",
  );
}

function isDenoPath(program: string): boolean {
  return /^deno(\.exe)?$/.test(basename(program));
}

function isInPath(path: string, name: string): boolean {
  return path.split(delimiter).some((folder) => isFile(join(folder, name)));
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
