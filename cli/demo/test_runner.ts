/**
 * Detection of a test runner for the sample project: the deno that runs this program, or an installed one.
 *
 * @module
 */

import { basename, delimiter, dirname, join } from "node:path";
import { ConfigurationError } from "../host/cli_error.ts";

/** A test runner. */
export interface TestRunner {
  /** Shell command. */
  readonly command: string;
  /** Value of `PATH` with which the command is found. */
  readonly path: string;
}

/**
 * Finds a test runner.
 *
 * @param program Path of the executable of this process; deno, unless `swink` is compiled.
 * @param path Value of `PATH`.
 * @throws {ConfigurationError} If neither deno nor node is installed.
 */
export function findTestRunner(program: string, path: string): TestRunner {
  if (/^deno(\.exe)?$/.test(basename(program))) {
    return { command: "deno test", path: `${dirname(program)}${delimiter}${path}` };
  }
  if (isInPath(path, "deno")) return { command: "deno test", path };
  if (isInPath(path, "node")) return { command: "node --test", path };
  throw new ConfigurationError(
    "The demo runs tests with deno or node, and PATH contains neither",
    "Install one of them, for example: npm install --global deno",
  );
}

function isInPath(path: string, name: string): boolean {
  return path.split(delimiter).some((directory) => isFile(join(directory, name)));
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
