/**
 * Runs the cases of a set.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { checkCases } from "../case/check_cases.ts";
import type { EvalSet } from "../case/eval_case.ts";
import { type EvalFiles, localEvalFiles } from "../case/eval_files.ts";
import { EvaluatorRegistry } from "../evaluators/evaluator_registry.ts";
import { createConnections } from "../recording/create_connections.ts";
import type { RunConnections } from "../recording/run_connection.ts";
import { type CreateCaseDirectory, createLocalDirectory } from "./case_directory.ts";
import type { CaseResult, EvalSetResult } from "./case_result.ts";
import { isCaseResult } from "./is_case_result.ts";
import { omitCalls } from "./omit_calls.ts";
import { checkCount, planRuns } from "./plan_runs.ts";
import {
  identifyRun,
  type MakeAgent,
  type PlannedRun,
  runCase,
  type RunServices,
} from "./run_case.ts";

/** Options for `runEvalSet()`. */
export interface RunEvalSetOptions {
  /** Number of runs at the same time. Default: 1. */
  readonly parallel?: number | undefined;
  /** Cancels the evaluation: running cases are aborted, and they and the other ones are skipped. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** The evaluators. Default: those of `EvaluatorRegistry.createDefault()`. */
  readonly evaluators?: EvaluatorRegistry | undefined;
  /**
   * Results of an interrupted evaluation, which are kept unless they are skipped, or have another seed than that of
   * `seeds`. Default: none.
   */
  readonly finished?: readonly CaseResult[] | undefined;
  /** Called with each new result, when its run has ended; awaited. Default: none. */
  readonly onResult?: ((result: CaseResult) => void | Promise<void>) | undefined;
  /**
   * Omits the calls, the replies and the answers of the returned results, so that memory does not grow with them;
   * `onResult` gets them. Default: `false`.
   */
  readonly omitCalls?: boolean | undefined;
  /**
   * Directory in which the requests of each run are recorded: those that `makeAgent` and judges send with the `fetch` that
   * they get. Default: none.
   */
  readonly record?: string | undefined;
  /**
   * Directory of a recording that answers the requests, without a network; its seeds replace `seed`, and of `seeds`
   * each one selects the run that was recorded with it. A run that sends other requests, or not all recorded ones, fails.
   * Default: none.
   */
  readonly replay?: string | undefined;
  /**
   * Replaces the parts of texts in requests that differ in each run, before a replay compares them, in addition to paths
   * and ids, and to times, durations, owners of files, processes and hashes in results of tools. Default: none.
   */
  readonly normalize?: ((text: string) => string) | undefined;
  /** Port: sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Port: reads and writes the list of recorded runs. Default: the file system. */
  readonly files?: EvalFiles | undefined;
  /** Seed from which the seed of each run is derived. Default: 0. */
  readonly seed?: number | undefined;
  /**
   * The seeds of the repetitions of each case, whose numbers they replace: for runs with faults from a seed, and to repeat
   * one of them. Default: none.
   */
  readonly seeds?: readonly number[] | undefined;
  /** Creates the directories of the runs. Default: in the directory for temporary files. */
  readonly createDirectory?: CreateCaseDirectory | undefined;
  /** Returns the time in milliseconds. Default: the clock of the system. */
  readonly now?: (() => number) | undefined;
  /**
   * Returns the milliseconds since any time, from which durations are calculated. Default: `now` if it is given, else
   * `performance.now()`, since the clock of the system can be changed during a run.
   */
  readonly elapsed?: (() => number) | undefined;
}

const OPTION_NAMES: readonly string[] = [
  "parallel",
  "signal",
  "evaluators",
  "finished",
  "onResult",
  "omitCalls",
  "record",
  "replay",
  "normalize",
  "fetch",
  "files",
  "seed",
  "seeds",
  "createDirectory",
  "now",
  "elapsed",
] satisfies (keyof RunEvalSetOptions)[];

/**
 * Runs each case of a set with an agent and a directory of its own, and scores the runs. A run that fails is a result;
 * the other ones continue.
 *
 * @throws {BadRequestError} If an option or a finished result is invalid, a case has no message or an invalid id, two cases
 * have the same id, there is no recording to replay, or another evaluation records in the directory. Also rejects with an
 * error of `onResult`, which cancels the evaluation.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { parseEvalSet, runEvalSet } from "@swink/agent/eval";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const set = await parseEvalSet(`
 *   id: greetings
 *   cases:
 *     - id: hello
 *       userMessages: [Greet me]
 *       expectedResponse: { type: contains, text: Hello }
 * `);
 * const { results } = await runEvalSet(
 *   set,
 *   () => new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hello!")]) }),
 *   { parallel: 4 },
 * );
 * results[0]?.outcome; // "passed"
 * ```
 */
export async function runEvalSet(
  set: EvalSet,
  makeAgent: MakeAgent,
  options: RunEvalSetOptions = {},
): Promise<EvalSetResult> {
  checkObject(options, "Pass options such as { parallel: 4 }");
  checkNames(options, OPTION_NAMES, "runEvalSet()");
  if (typeof makeAgent !== "function") {
    throw new BadRequestError("Pass the function that creates the agent of a run");
  }
  const { parallel = 1 } = options;
  checkCount("parallel", parallel);
  checkFinished(options.finished);
  const planned = planRuns(set, options);
  await checkCases(set.cases);
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...options.signal ? [options.signal] : []]);
  using connections = await openConnections(options);
  const services = createServices(set, makeAgent, { ...options, signal, connections });
  const runner = new SetRunner(services, options);
  const queue = planned.entries();
  const work = async () => {
    for (const [index, run] of queue) {
      if (!stop.signal.aborted) await runner.run(run, index);
    }
  };
  const workers = Array.from({ length: Math.min(parallel, planned.length) }, work);
  // A result that cannot be processed ends the evaluation, after the other runs have been aborted.
  for (const worker of workers) worker.catch((error) => stop.abort(error));
  await Promise.allSettled(workers);
  await Promise.all(workers);
  return { setId: set.id, results: runner.results };
}

/** A result that was not read by this library, such as one without scores, could count as a success. */
function checkFinished(finished: readonly CaseResult[] = []): void {
  const index = finished.findIndex((entry: unknown) => !isCaseResult(entry));
  if (index < 0) return;
  throw new BadRequestError(
    `finished[${index}] is no valid result: pass those of runEvalSet() or resumeEvalRun()`,
  );
}

/** Makes the runs of a set, and keeps their results. */
class SetRunner {
  /** The results, in the order of the runs. */
  readonly results: CaseResult[] = [];
  readonly #services: RunServices;
  readonly #options: RunEvalSetOptions;
  readonly #finished: ReadonlyMap<string, CaseResult>;

  constructor(services: RunServices, options: RunEvalSetOptions) {
    this.#services = services;
    this.#options = options;
    const finished = (options.finished ?? []).filter(({ outcome }) => outcome !== "skipped");
    this.#finished = new Map(finished.map((result) => [getRunKey(result), result]));
  }

  async run(planned: PlannedRun, index: number): Promise<void> {
    const known = this.#findFinished(planned);
    const result = known ?? await runUnlessAborted(planned, this.#services);
    this.results[index] = this.#options.omitCalls ? omitCalls(result) : result;
    if (!known) await this.#options.onResult?.(result);
  }

  /** Returns the result of an earlier evaluation; one with the faults of another seed is that of another run. */
  #findFinished(planned: PlannedRun): CaseResult | undefined {
    const known = this.#finished.get(getRunKey(identifyRun(planned)));
    return this.#options.seeds === undefined || known?.seed === planned.seed ? known : undefined;
  }
}

async function openConnections(options: RunEvalSetOptions): Promise<RunConnections> {
  const { now = Date.now, files = localEvalFiles } = options;
  const { fetch = (...request) => globalThis.fetch(...request) } = options;
  return await createConnections({ ...options, fetch, now, files });
}

function createServices(
  set: EvalSet,
  makeAgent: MakeAgent,
  options: RunEvalSetOptions & { readonly connections: RunConnections },
): RunServices {
  const { now = Date.now, connections } = options;
  const { elapsed = options.now ?? (() => performance.now()) } = options;
  return {
    makeAgent,
    evaluators: options.evaluators ?? EvaluatorRegistry.createDefault(),
    createDirectory: options.createDirectory ?? createLocalDirectory,
    openConnection: connections.open,
    now,
    elapsed,
    signal: options.signal ?? new AbortController().signal,
    setDirectory: set.directory,
    usedAgents: new WeakSet(),
  };
}

async function runUnlessAborted(run: PlannedRun, services: RunServices): Promise<CaseResult> {
  if (!services.signal.aborted) return await runCase(run, services);
  return {
    ...identifyRun(run),
    outcome: "skipped",
    scores: [],
    trajectory: undefined,
    durationMs: 0,
  };
}

function getRunKey({ caseId, repetition }: Pick<CaseResult, "caseId" | "repetition">): string {
  return `${caseId} ${repetition}`;
}
