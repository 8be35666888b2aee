/**
 * Files of the command line that are pipes, such as those of `<(command)`: a signal ends the wait for their content.
 *
 * @module
 */

import { UsageError } from "../host/cli_error.ts";
import { getFileProblem } from "../host/file_problem.ts";
import { isPipe, readPipe } from "../host/read_text_file.ts";
import type { ConfiguredRun } from "./configure_run.ts";
import { resolvePath } from "./resolve_path.ts";

/**
 * Returns the options of a run with the content of pipes instead of their paths. Those that a signal interrupts are left
 * out, since the run then ends.
 *
 * @throws {UsageError} If a pipe cannot be read.
 */
export async function readPipedFiles(
  { options, ...configured }: ConfiguredRun,
  signal: AbortSignal,
): Promise<ConfiguredRun> {
  const { systemFile, jsonSchema } = options;
  const changed = { ...options };
  if (systemFile !== undefined && isPipe(resolvePath(systemFile))) {
    changed.systemFile = undefined;
    changed.system = await read(systemFile, "--system-file", signal);
  }
  if (jsonSchema !== undefined && isPipe(resolvePath(jsonSchema))) {
    changed.jsonSchema = await read(jsonSchema, "--json-schema", signal);
    if (changed.jsonSchema?.trimStart().startsWith("{") === false) {
      throw createError(jsonSchema, "--json-schema", "must be a JSON object");
    }
  }
  return { ...configured, options: changed };
}

async function read(path: string, flag: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await readPipe(resolvePath(path), signal);
  } catch (error) {
    throw createError(path, flag, getFileProblem(error));
  }
}

function createError(path: string, flag: string, reason: string): UsageError {
  return new UsageError(`Invalid value ${JSON.stringify(path)} for ${flag}: ${reason}`);
}
