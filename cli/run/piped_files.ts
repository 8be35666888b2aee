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
  const { systemFile, jsonSchema, mcpConfig } = options;
  const changed = { ...options };
  if (systemFile !== undefined && isPipe(resolvePath(systemFile))) {
    changed.systemFile = undefined;
    changed.system = await read(systemFile, "--system-file", signal);
  }
  if (jsonSchema !== undefined && isPipe(resolvePath(jsonSchema))) {
    changed.jsonSchema = await read(jsonSchema, "--json-schema", signal);
    checkObject(changed.jsonSchema, jsonSchema, "--json-schema");
  }
  if (mcpConfig?.some((file) => isPipe(resolvePath(file)))) {
    const texts: string[] = [];
    for (const file of mcpConfig) {
      const isText = isPipe(resolvePath(file));
      const text = isText ? await read(file, "--mcp-config", signal) : file;
      if (isText) checkObject(text, file, "--mcp-config");
      if (text !== undefined) texts.push(text);
    }
    changed.mcpConfig = texts;
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

/** Checks that a text begins an object, as a text in place of a file must. */
function checkObject(text: string | undefined, path: string, flag: string): void {
  if (text?.trimStart().startsWith("{") === false) {
    throw createError(path, flag, "must be a JSON object");
  }
}

function createError(path: string, flag: string, reason: string): UsageError {
  return new UsageError(`Invalid value ${JSON.stringify(path)} for ${flag}: ${reason}`);
}
