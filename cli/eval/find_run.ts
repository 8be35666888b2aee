/**
 * Finds evaluations in the directory of the results.
 *
 * @module
 */

import { type EvalRun, listEvalRuns, readEvalRun } from "../../src/eval/mod.ts";
import { AgentError } from "../../src/core/errors.ts";
import { join } from "../../src/platform/paths.ts";
import { UsageError } from "../host/cli_error.ts";
import { pathExists } from "../host/path_exists.ts";
import { resolvePath } from "../run/resolve_path.ts";

const ADVICE = "List the evaluations with: swink eval list";

/** Maximum number of names in a message. */
const MAX_SHOWN = 5;

/**
 * Returns the directory of an evaluation: by its path, its name, the beginning of it, or `latest`.
 *
 * @throws {UsageError} If there is none, or several.
 */
export async function findRunDirectory(name: string, results: string): Promise<string> {
  const path = resolvePath(name);
  if (isRun(path)) return path;
  const runs = await listEvalRuns(resolvePath(results));
  const latest = runs.at(-1);
  if (name === "latest" && latest) return join(resolvePath(results), latest.id);
  const ids = runs.map(({ id }) => id);
  const found = ids.includes(name)
    ? [name]
    : ids.filter((id) => name !== "" && id.startsWith(name));
  const [first, ...others] = found;
  if (first === undefined) {
    throw new UsageError(`There is no evaluation ${JSON.stringify(name)} in ${results}`, ADVICE);
  }
  if (others.length === 0) return join(resolvePath(results), first);
  const more = found.length > MAX_SHOWN ? ", …" : "";
  throw new UsageError(
    `Several evaluations begin with ${JSON.stringify(name)}: ${
      found.slice(0, MAX_SHOWN).join(", ")
    }${more}`,
    "Write more of the name.",
  );
}

/**
 * Reads an evaluation.
 *
 * @throws {UsageError} If there is none, or it cannot be read.
 */
export async function findRun(name: string, results: string): Promise<EvalRun> {
  const directory = await findRunDirectory(name, results);
  try {
    return await readEvalRun(directory);
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(error.message);
    throw error;
  }
}

/** Reads the evaluations of a set that were started before another one, the oldest first. */
export async function readHistory(
  { id, setId, startedAt }: EvalRun,
  results: string,
): Promise<EvalRun[]> {
  const runs = await listEvalRuns(resolvePath(results));
  return runs.filter((run) => run.setId === setId && run.id !== id && run.startedAt <= startedAt);
}

function isRun(path: string): boolean {
  return pathExists(join(path, "run.json"));
}
