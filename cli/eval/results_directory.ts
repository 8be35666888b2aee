/**
 * The directory of the results of evaluations.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import type { EvalSet } from "../../src/eval/mod.ts";
import { join } from "../../src/platform/paths.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { getFileProblem } from "../host/file_problem.ts";
import { pathExists } from "../host/path_exists.ts";

/** The evaluation that a directory is opened for. */
export interface NewRun {
  readonly set: EvalSet;
  readonly model: ModelSpec;
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Creates the directory of the results, which git ignores, and returns the path for an evaluation in it.
 *
 * @throws {ConfigurationError} If it cannot be created.
 */
export async function openResults(results: string, run: NewRun): Promise<string> {
  try {
    await Deno.mkdir(results, { recursive: true, mode: 0o700 });
    const ignoreFile = join(results, ".gitignore");
    // Results contain prompts and files; they belong in a repository only if the user wants that.
    if (!pathExists(ignoreFile)) await Deno.writeTextFile(ignoreFile, "*\n");
  } catch (error) {
    throw new ConfigurationError(
      `The directory of the results ${results} cannot be created: ${getFileProblem(error)}`,
      "Choose another one with --results.",
    );
  }
  const name = createName(run);
  let path = join(results, name);
  for (let number = 2; pathExists(path); number++) path = join(results, `${name}-${number}`);
  return path;
}

/** Returns a name such as `20260822-101500-greetings-claude-sonnet-5-5`. */
function createName({ set, model: { modelId }, now }: NewRun): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15);
  return `${time}-${set.id}-${modelId.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 60)}`;
}
