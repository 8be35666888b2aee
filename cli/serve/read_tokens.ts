/**
 * The file with the tokens of a server.
 *
 * @module
 */

import { getErrorMessage } from "../../src/core/errors/errors.ts";
import type { BearerToken } from "../../src/server/mod.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { getFileProblem } from "../host/file_problem.ts";
import { readTextFile } from "../host/read_text_file.ts";
import { resolvePath } from "../run/settings/resolve_path.ts";

const MAX_BYTES = 1_000_000;

/** Matches the permissions of others than the owner of a file. */
const OTHERS = 0o077;

/**
 * Reads tokens: one a line, followed by a blank and the name of a tenant if it has one. Empty lines and those that begin
 * with `#` are ignored.
 *
 * @throws {UsageError} If the file cannot be read, or a line has more.
 * @throws {ConfigurationError} If other users can read the file.
 */
export function readTokens(name: string): readonly BearerToken[] {
  const path = resolvePath(name);
  checkMode(path, name);
  const tokens = readText(path, name).split("\n").flatMap((line, index) => {
    const words = line.trim().split(/\s+/);
    const [token = "", tenant] = words;
    if (token === "" || token.startsWith("#")) return [];
    if (words.length > 2) {
      throw createInvalidError(name, `line ${index + 1} has more than a token and a tenant`);
    }
    // Metrics cover all tenants.
    return [{ token, ...(tenant === undefined ? { mayReadMetrics: true } : { tenant }) }];
  });
  if (tokens.length === 0) throw createInvalidError(name, "it has no token");
  return tokens;
}

/** Adds the name of the file to an error about a token. */
export function explainTokenError(error: unknown, name: string): UsageError {
  return createInvalidError(name, getErrorMessage(error));
}

function createInvalidError(name: string, problem: string): UsageError {
  return new UsageError(
    `Invalid value ${JSON.stringify(name)} for --token-file: ${problem}`,
    "Write a token on each line, such as the output of: openssl rand -hex 32",
  );
}

function readText(path: string, name: string): string {
  try {
    return readTextFile(path, MAX_BYTES);
  } catch (error) {
    throw createInvalidError(name, getFileProblem(error));
  }
}

function checkMode(path: string, name: string): void {
  const mode = readMode(path, name);
  if (mode === null || (mode & OTHERS) === 0) return;
  throw new ConfigurationError(
    `Other users can read the file ${JSON.stringify(name)} with the tokens`,
    `Run: chmod 600 ${name}`,
  );
}

/** Returns the mode of a regular file; a pipe such as that of `<(command)` has none. */
function readMode(path: string, name: string): number | null {
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile ? mode : null;
  } catch (error) {
    throw createInvalidError(name, getFileProblem(error));
  }
}
