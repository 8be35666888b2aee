/**
 * Files of the command line that are pipes, such as those of `<(command)`: a signal ends the wait for their content.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import { isPipe, readPipe } from "../../host/read_text_file.ts";
import type { ConfiguredRun } from "../settings/configure_run.ts";
import { resolvePath } from "../settings/resolve_path.ts";

/** Options for `readPipedFiles()`. */
export interface PipedFileOptions {
  /** Ends the wait for their content. */
  readonly signal: AbortSignal;
  /** Content by path, which is kept here: a pipe has it only once. */
  readonly contents: Map<string, string>;
}

/**
 * Returns the options of a run with the content of pipes instead of their paths. Those that a signal interrupts are left
 * out, since the run then ends.
 *
 * @throws {UsageError} If a pipe cannot be read.
 */
export async function readPipedFiles(
  { options, ...configured }: ConfiguredRun,
  pipes: PipedFileOptions,
): Promise<ConfiguredRun> {
  const read = (path: string, flag: string) => readOnce(path, flag, pipes);
  const isPiped = (path: string) => pipes.contents.has(path) || isPipe(resolvePath(path));
  const { systemFile, jsonSchema, mcpConfig } = options;
  const changed = { ...options };
  if (systemFile !== undefined && isPiped(systemFile)) {
    changed.systemFile = undefined;
    changed.system = await read(systemFile, "--system-file");
  }
  if (jsonSchema !== undefined && isPiped(jsonSchema)) {
    changed.jsonSchema = await read(jsonSchema, "--json-schema");
    checkObject(changed.jsonSchema, jsonSchema, "--json-schema");
  }
  if (mcpConfig?.some(isPiped)) {
    const texts: string[] = [];
    for (const file of mcpConfig) {
      const isText = isPiped(file);
      const text = isText ? await read(file, "--mcp-config") : file;
      if (isText) checkObject(text, file, "--mcp-config");
      if (text !== undefined) texts.push(text);
    }
    changed.mcpConfig = texts;
  }
  return { ...configured, options: changed };
}

async function readOnce(
  path: string,
  flag: string,
  { signal, contents }: PipedFileOptions,
): Promise<string | undefined> {
  const known = contents.get(path);
  if (known !== undefined) return known;
  try {
    const content = await readPipe(resolvePath(path), signal);
    if (content !== undefined) contents.set(path, content);
    return content;
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
