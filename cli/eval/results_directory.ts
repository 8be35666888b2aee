/**
 * The directory of the results of evaluations.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import type { EvalSet } from "../../src/eval/mod.ts";
import { pathExists } from "../../src/platform/path_exists.ts";
import { join } from "../../src/platform/paths.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { getFileProblem } from "../host/file_problem.ts";

/** The evaluation that a directory is opened for. */
export interface NewRun {
  readonly set: EvalSet;
  readonly model: ModelSpec;
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Creates the directory of the results, which git ignores, and one for an evaluation in it, whose path it returns.
 *
 * @throws {ConfigurationError} If it cannot be created.
 */
export async function openResults(results: string, run: NewRun): Promise<string> {
  const name = createName(run);
  try {
    await Deno.mkdir(results, { recursive: true, mode: 0o700 });
    const ignoreFile = join(results, ".gitignore");
    // Results contain prompts and files; they belong in a repository only if the user wants that.
    if (!pathExists(ignoreFile)) await Deno.writeTextFile(ignoreFile, "*\n");
    return await createDirectory(join(results, name));
  } catch (error) {
    throw new ConfigurationError(
      `The directory of the results ${results} cannot be created: ${getFileProblem(error)}`,
      "Choose another one with --results.",
    );
  }
}

/** Creates a directory with a name that no other process uses, such as one that started in the same second. */
async function createDirectory(path: string): Promise<string> {
  for (let number = 1;; number++) {
    const candidate = number === 1 ? path : `${path}-${number}`;
    try {
      await Deno.mkdir(candidate, { mode: 0o700 });
      return candidate;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
}

/** Returns a name such as `20260822-101500-greetings-claude-sonnet-5-5`. */
function createName({ set, model: { modelId }, now }: NewRun): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15);
  return `${time}-${set.id}-${modelId.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 60)}`;
}
