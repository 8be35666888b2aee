/**
 * Finds evaluations in the directory of the results.
 *
 * @module
 */

import { AgentError } from "../../src/core/errors/errors.ts";
import {
  type EvalRun,
  type EvalRunHeader,
  listEvalRunHeaders,
  readEvalRun,
} from "../../src/eval/mod.ts";
import { pathExists } from "../../src/platform/path_exists.ts";
import { join } from "../../src/platform/paths.ts";
import { UsageError } from "../host/cli_error.ts";
import { resolvePath } from "../run/settings/resolve_path.ts";

const ADVICE = "List the evaluations with: swink eval list";

/** Maximum number of names in a message. */
const MAX_SHOWN = 5;

/** Where evaluations are searched. */
export interface RunLocation {
  /** Directory of the results. */
  readonly results: string;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
}

/**
 * Returns the directory of an evaluation: by its path, its name, the beginning of it, or `latest`.
 *
 * @throws {UsageError} If there is none, or several, or it is unknown which one is the last.
 */
export async function findRunDirectory(name: string, location: RunLocation): Promise<string> {
  const { results } = location;
  const path = resolvePath(name);
  if (isRun(path)) return path;
  const runs = await listEvalRunHeaders(resolvePath(results));
  const latest = runs.at(-1);
  if (name === "latest" && latest) {
    checkLatest(runs, location);
    return join(resolvePath(results), latest.id);
  }
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
 * Checks that the last evaluation is known: a gate must not decide about an earlier one.
 *
 * @throws {UsageError} If one cannot be read, or has a start that is later than now, as after the clock was set back.
 */
function checkLatest(runs: readonly EvalRunHeader[], { results, now }: RunLocation): void {
  const directory = resolvePath(results);
  const known = new Set(runs.map(({ id }) => id));
  const unreadable = [...Deno.readDirSync(directory)].map(({ name }) => name).sort()
    .find((name) => !known.has(name) && isRun(join(directory, name)));
  if (unreadable !== undefined) {
    throw new UsageError(
      `The last evaluation in ${results} is unknown, since ${unreadable} cannot be read`,
      `Name the evaluation instead of latest, or remove ${join(directory, unreadable)}`,
    );
  }
  const time = now();
  const future = runs.find(({ startedAt }) => startedAt > time);
  if (!future) return;
  throw new UsageError(
    `The last evaluation in ${results} is unknown, since the start of ${future.id} is later than now`,
    "Name the evaluation instead of latest, and check the clock of the system.",
  );
}

/** Options for `findRun()`. */
export interface FindRunOptions extends RunLocation {
  /** Whether the runs have their calls, which can be larger than the memory. Default: `false`. */
  readonly withCalls?: boolean;
}

/**
 * Reads an evaluation.
 *
 * @throws {UsageError} If there is none, or it cannot be read.
 */
export async function findRun(
  name: string,
  { withCalls = false, ...location }: FindRunOptions,
): Promise<EvalRun> {
  const directory = await findRunDirectory(name, location);
  try {
    return await readEvalRun(directory, { omitCalls: !withCalls });
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(error.message);
    throw error;
  }
}

/** Evaluations of a chart. */
const MAX_HISTORY = 50;

/**
 * Reads the last evaluations of a set that were started before another one, the oldest first, without their calls: those
 * with the same model and with faults as it has, since others are not comparable.
 */
export async function readHistory(
  { id, setId, model, seeds, startedAt }: EvalRun,
  results: string,
): Promise<EvalRun[]> {
  const headers = await listEvalRunHeaders(resolvePath(results));
  const earlier = headers.filter((header) =>
    header.set.id === setId && header.id !== id && header.startedAt <= startedAt &&
    header.model === model && !header.seeds === !seeds
  );
  const runs: EvalRun[] = [];
  for (const header of earlier.slice(-MAX_HISTORY)) {
    // A chart does not need one that cannot be read.
    const run = await readEvalRun(join(resolvePath(results), header.id), { omitCalls: true })
      .catch(() => undefined);
    if (run) runs.push(run);
  }
  return runs;
}

function isRun(path: string): boolean {
  return pathExists(join(path, "run.json"));
}
