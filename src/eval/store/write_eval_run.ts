/**
 * Writes evaluations to disk while they run.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { toCanonicalText } from "../../core/json_schema/canonical_text.ts";
import { join } from "../../platform/paths.ts";
import type { EvalSet } from "../case/eval_case.ts";
import { type EvalFiles, localEvalFiles } from "../case/eval_files.ts";
import type { CaseResult } from "../run/case_result.ts";
import type { EvalRun, EvalRunHeader } from "./eval_run.ts";
import { readEvalRun, readLines } from "./read_eval_run.ts";
import { formatResultLine } from "./result_lines.ts";
import { hashRun, readHeader, RUN_FILES, type RunAudit } from "./run_files.ts";

/** Writes the results of an evaluation. */
export interface EvalRunWriter {
  /** The directory. */
  readonly directory: string;
  /** The results that were finished before; for the option `finished` of `runEvalSet()`. */
  readonly finished: readonly CaseResult[];
  /** Appends a result; skipped ones are ignored, so that they are made when the evaluation is resumed. */
  append(result: CaseResult): Promise<void>;
  /**
   * Waits until all results are written, and reads the evaluation. If it is complete, adds the hash by which
   * `verifyEvalRun()` detects later changes.
   */
  finish(): Promise<EvalRun>;
}

/** Options for `createEvalRun()`. */
export interface CreateEvalRunOptions extends Pick<EvalRunHeader, "model" | "seeds"> {
  /** The set that is run. */
  readonly set: EvalSet;
  /** Seed of the evaluation. Default: 0. */
  readonly seed?: number | undefined;
  /** Port: the current time in milliseconds. Default: the clock of the system. */
  readonly now?: (() => number) | undefined;
  /** File access. Default: the file system. */
  readonly files?: EvalFiles | undefined;
}

/**
 * Starts an evaluation in a directory, which is created if it does not exist.
 *
 * @throws {BadRequestError} If the directory has an evaluation already.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createEvalRun, runEvalSet } from "@swink/agent/eval";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const set = {
 *   id: "greetings",
 *   cases: [{
 *     id: "hello",
 *     userMessages: ["Greet me"],
 *     expectedResponse: { type: "contains", text: "Hello" },
 *   }],
 * } as const;
 * const writer = await createEvalRun(`${await Deno.makeTempDir()}/greetings-1`, { set });
 * const makeAgent = () =>
 *   new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hello!")]) });
 * await runEvalSet(set, makeAgent, { onResult: (result) => writer.append(result) });
 * const run = await writer.finish();
 * run.results.length; // 1
 * ```
 */
export async function createEvalRun(
  directory: string,
  options: CreateEvalRunOptions,
): Promise<EvalRunWriter> {
  const { model, seed = 0, seeds, now = Date.now, files = localEvalFiles } = options;
  const path = join(directory, RUN_FILES.header);
  // Also results without a header, which would count as those of this evaluation.
  for (const name of Object.values(RUN_FILES)) {
    if (await files.read(join(directory, name)) === undefined) continue;
    throw new BadRequestError(
      `"${directory}" has an evaluation already (${name}): choose another directory`,
    );
  }
  const { directory: _, ...set } = options.set;
  const header: Omit<EvalRunHeader, "id"> = {
    version: 1,
    ...(model !== undefined && { model }),
    seed,
    ...(seeds && { seeds }),
    startedAt: now(),
    set,
  };
  await files.write(path, `${JSON.stringify(header, null, 2)}\n`);
  return new DirectoryWriter(directory, { finished: [], isRepaired: false, now, files });
}

/** Options for `resumeEvalRun()`. */
export interface ResumeEvalRunOptions extends Pick<CreateEvalRunOptions, "set" | "now" | "files"> {}

/**
 * Resumes an evaluation that was interrupted. Damaged results are moved to `results.damaged.jsonl`, and their runs are made
 * again.
 *
 * @throws {BadRequestError} If the directory has no evaluation, or its set is not the given one.
 */
export async function resumeEvalRun(
  directory: string,
  { set, now = Date.now, files = localEvalFiles }: ResumeEvalRunOptions,
): Promise<EvalRunWriter> {
  const header = await readHeader(directory, files);
  if (getSetText(header.set) !== getSetText(set)) {
    throw new BadRequestError(
      `The set "${set.id}" is not that of the evaluation in "${directory}", or has changed: start another evaluation`,
    );
  }
  const { results, damaged, isCut } = await readLines(directory, files);
  const isRepaired = damaged.length > 0 || isCut;
  if (isRepaired) await removeDamage(directory, results, files);
  return new DirectoryWriter(directory, { finished: results, isRepaired, now, files });
}

/** Returns a text that is equal for equal sets; functions are not part of it. */
function getSetText({ directory: _, ...set }: EvalSet): string {
  return toCanonicalText(JSON.parse(JSON.stringify(set)));
}

/** Replaces the file by its readable results, and keeps the previous one. */
async function removeDamage(
  directory: string,
  results: readonly CaseResult[],
  files: EvalFiles,
): Promise<void> {
  const path = join(directory, RUN_FILES.results);
  const text = await files.read(path) ?? "";
  await files.append(join(directory, "results.damaged.jsonl"), `${text}\n`);
  const lines = await Promise.all(results.map(formatResultLine));
  await files.write(path, lines.join(""));
}

interface WriterOptions {
  readonly finished: readonly CaseResult[];
  /** Whether damaged results were removed. */
  readonly isRepaired: boolean;
  readonly now: () => number;
  readonly files: EvalFiles;
}

class DirectoryWriter implements EvalRunWriter {
  readonly directory: string;
  readonly finished: readonly CaseResult[];
  readonly #now: () => number;
  readonly #files: EvalFiles;
  #pending: Promise<void> = Promise.resolve();
  /** Whether the hash of an evaluation that was complete is that of other results. */
  #isChanged: boolean;

  constructor(directory: string, { finished, isRepaired, now, files }: WriterOptions) {
    this.directory = directory;
    this.finished = finished;
    this.#isChanged = isRepaired;
    this.#now = now;
    this.#files = files;
  }

  append(result: CaseResult): Promise<void> {
    if (result.outcome === "skipped") return Promise.resolve();
    this.#isChanged = true;
    const path = join(this.directory, RUN_FILES.results);
    const writing = this.#pending.then(async () =>
      await this.#files.append(path, await formatResultLine(result))
    );
    // The caller gets the failure; later results are written if possible.
    this.#pending = writing.catch(() => {});
    return writing;
  }

  async finish(): Promise<EvalRun> {
    await this.#pending;
    const run = await readEvalRun(this.directory, { files: this.#files });
    const isFinished = run.finishedAt !== undefined && !this.#isChanged;
    if (run.results.length < run.planned || isFinished) return run;
    const header = await readHeader(this.directory, this.#files);
    const finishedAt = this.#now();
    const hash = await hashRun(header, run.results, finishedAt);
    const audit: RunAudit = { version: 1, finishedAt, hash };
    await this.#files.write(
      join(this.directory, RUN_FILES.audit),
      `${JSON.stringify(audit, null, 2)}\n`,
    );
    return { ...run, finishedAt };
  }
}
