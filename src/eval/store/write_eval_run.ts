/**
 * Writes evaluations to disk while they run.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { toCanonicalText } from "../../core/json_schema/canonical_text.ts";
import { join } from "../../platform/paths.ts";
import type { EvalSet } from "../case/eval_case.ts";
import { type EvalFiles, localEvalFiles } from "../case/eval_files.ts";
import { RUN_FILES } from "../case/output_files.ts";
import type { CaseResult } from "../run/case_result.ts";
import type { EvalRun, EvalRunHeader } from "./eval_run.ts";
import { hashFixtures } from "./hash_fixtures.ts";
import { type ReadEvalRunOptions, readLines, readStoredRun } from "./read_eval_run.ts";
import { formatResultLine } from "./result_lines.ts";
import { createAudit, readHeader } from "./run_files.ts";

/**
 * Writes the results of an evaluation, which no other process can write at the same time, until it is finished or disposed
 * of.
 */
export interface EvalRunWriter extends Disposable {
  /** The directory. */
  readonly directory: string;
  /** The results that were finished before; for the option `finished` of `runEvalSet()`. */
  readonly finished: readonly CaseResult[];
  /**
   * Appends a result; skipped ones are ignored, so that they are made when the evaluation is resumed. Rejects with a
   * `BadRequestError` after the end of the writer.
   */
  append(result: CaseResult): Promise<void>;
  /**
   * Waits until all results are written, and reads the evaluation. If it is complete, adds the hash by which
   * `verifyEvalRun()` detects later changes. With `omitCalls` its results have no calls, replies and answers. Ends the
   * writer, so that another process can resume the evaluation.
   */
  finish(options?: FinishOptions): Promise<EvalRun>;
}

/** Options for `finish()` of an evaluation. */
export interface FinishOptions extends Pick<ReadEvalRunOptions, "omitCalls"> {}

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
  const refuse = (name: string) => {
    throw new BadRequestError(
      `"${directory}" has an evaluation already (${name}): choose another directory`,
    );
  };
  for (const name of [RUN_FILES.header, RUN_FILES.audit]) {
    if (await files.read(join(directory, name)) !== undefined) refuse(name);
  }
  // Only one of several processes can create the file. Results that an earlier process has left there without a header would
  // count as those of this evaluation.
  if (!await files.create(join(directory, RUN_FILES.results), "")) refuse(RUN_FILES.results);
  const { directory: _, ...set } = options.set;
  return await withLock(directory, files, async (lock) => {
    const header: Omit<EvalRunHeader, "id"> = {
      version: 1,
      ...(model !== undefined && { model }),
      seed,
      ...(seeds && { seeds }),
      startedAt: now(),
      set,
      // A fixture may contain this directory: its lock marks it as no part of the fixture.
      fixtures: await hashFixtures(options.set),
    };
    await files.write(path, `${JSON.stringify(header, null, 2)}\n`);
    return new DirectoryWriter(directory, { finished: [], isRepaired: false, now, files, lock });
  });
}

/** Options for `resumeEvalRun()`. */
export interface ResumeEvalRunOptions
  extends
    Pick<CreateEvalRunOptions, "set" | "now" | "files">,
    Pick<ReadEvalRunOptions, "omitCalls"> {}

/**
 * Resumes an evaluation that was interrupted. Damaged results are moved to `results.damaged.jsonl`, and their runs are made
 * again. With `omitCalls` the finished results have no calls, replies and answers.
 *
 * @throws {BadRequestError} If the directory has no evaluation, its set is not the given one, the files of a fixture have
 * changed, or another process writes it. Relative fixtures of a set without a `directory` are not compared.
 */
export async function resumeEvalRun(
  directory: string,
  { set, now = Date.now, files = localEvalFiles, omitCalls = false }: ResumeEvalRunOptions,
): Promise<EvalRunWriter> {
  const header = await readHeader(directory, files);
  if (getSetText(header.set) !== getSetText(set)) {
    throw new BadRequestError(
      `The set "${set.id}" is not that of the evaluation in "${directory}", or has changed: start another evaluation`,
    );
  }
  const changed = await findChangedFixture(header, set);
  if (changed !== undefined) {
    throw new BadRequestError(
      `The evaluation in "${directory}" cannot be resumed, since the fixture "${changed}" has changed: restore its files, or start another evaluation`,
    );
  }
  return await withLock(directory, files, async (lock) => {
    const { results, damaged, isCut } = await readLines(directory, files, { omitCalls });
    const isRepaired = damaged.length > 0 || isCut;
    if (isRepaired) await removeDamage(directory, new Set(damaged), files);
    const finished = results.map(({ result }) => result);
    return new DirectoryWriter(directory, { finished, isRepaired, now, files, lock });
  });
}

/**
 * Opens a writer that owns the lock of its directory: of two processes, each would make the missing runs, and one would
 * remove what the other has just written as damaged.
 *
 * @throws {BadRequestError} If another process writes the evaluation.
 */
async function withLock(
  directory: string,
  files: EvalFiles,
  open: (lock: Disposable) => Promise<EvalRunWriter>,
): Promise<EvalRunWriter> {
  const lock = await files.lock(join(directory, RUN_FILES.lock));
  if (!lock) {
    throw new BadRequestError(
      `The evaluation in "${directory}" is being written by another process: wait for its end`,
    );
  }
  try {
    return await open(lock);
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

/** Returns a fixture with other files than at the start of an evaluation: the missing runs would be those of another task. */
async function findChangedFixture(
  { fixtures }: EvalRunHeader,
  set: EvalSet,
): Promise<string | undefined> {
  if (!fixtures) return undefined;
  const current = await hashFixtures(set);
  return Object.keys(fixtures).find((name) => fixtures[name] !== current[name]);
}

/** Returns a text that is equal for equal sets; functions are not part of it. */
function getSetText({ directory: _, ...set }: EvalSet): string {
  return toCanonicalText(JSON.parse(JSON.stringify(set)));
}

/** Lines of a file that are written at once. */
const COPIED_LINES = 100;

/** Replaces the file by its readable lines, and keeps the other ones. */
async function removeDamage(
  directory: string,
  damaged: ReadonlySet<number>,
  files: EvalFiles,
): Promise<void> {
  const path = join(directory, RUN_FILES.results);
  const repaired = join(directory, `results.${crypto.randomUUID()}.tmp`);
  await files.write(repaired, "");
  let number = 0;
  let lines: string[] = [];
  for await (const line of files.readLines(path)) {
    number++;
    const isCut = !line.endsWith("\n");
    if (isCut || damaged.has(number)) {
      const ended = isCut ? `${line}\n` : line;
      await files.append(join(directory, "results.damaged.jsonl"), ended);
      continue;
    }
    lines.push(line);
    if (lines.length < COPIED_LINES) continue;
    await files.append(repaired, lines.join(""));
    lines = [];
  }
  await files.append(repaired, lines.join(""));
  await files.rename(repaired, path);
}

interface WriterOptions {
  readonly finished: readonly CaseResult[];
  /** Whether damaged results were removed. */
  readonly isRepaired: boolean;
  readonly now: () => number;
  readonly files: EvalFiles;
  readonly lock: Disposable;
}

class DirectoryWriter implements EvalRunWriter {
  readonly directory: string;
  readonly finished: readonly CaseResult[];
  readonly #now: () => number;
  readonly #files: EvalFiles;
  readonly #lock: Disposable;
  #isOpen = true;
  /** Settles when the results so far are written, or could not be. */
  #pending: Promise<unknown> = Promise.resolve();
  /** Lines that are not written yet. */
  readonly #lines: Promise<string>[] = [];
  /** The write that will take these lines. */
  #write: Promise<void> | undefined;
  /** Settles when the file is not being written. */
  #writing: Promise<void> = Promise.resolve();
  /** Whether the hash of an evaluation that was complete is that of other results. */
  #isChanged: boolean;

  constructor(directory: string, options: WriterOptions) {
    const { finished, isRepaired, now, files, lock } = options;
    this.directory = directory;
    this.finished = finished;
    this.#isChanged = isRepaired;
    this.#now = now;
    this.#files = files;
    this.#lock = lock;
  }

  append(result: CaseResult): Promise<void> {
    if (result.outcome === "skipped") return Promise.resolve();
    if (!this.#isOpen) {
      const reason = `The evaluation in "${this.directory}" was ended: resume it`;
      return Promise.reject(new BadRequestError(reason));
    }
    this.#isChanged = true;
    const writing = this.#append(result);
    // The caller gets the failure; later results are written if possible.
    this.#pending = Promise.allSettled([this.#pending, writing]);
    return writing;
  }

  /** Writes the line of a result, together with those that are added while the file is being written. */
  async #append(result: CaseResult): Promise<void> {
    const line = formatResultLine(result);
    // A result that cannot be written as JSON must not keep the other ones from being written.
    this.#lines.push(line.catch(() => ""));
    this.#write ??= this.#writing.then(() => this.#startWrite());
    await Promise.all([line, this.#write]);
  }

  #startWrite(): Promise<void> {
    this.#write = undefined;
    const write = this.#writeLines();
    this.#writing = write.catch(() => {});
    return write;
  }

  async #writeLines(): Promise<void> {
    const lines = await Promise.all(this.#lines.splice(0));
    await this.#files.append(join(this.directory, RUN_FILES.results), lines.join(""));
  }

  async finish(options: FinishOptions = {}): Promise<EvalRun> {
    try {
      return await this.#finish(options);
    } finally {
      this[Symbol.dispose]();
    }
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#lock[Symbol.dispose]();
  }

  async #finish({ omitCalls }: FinishOptions): Promise<EvalRun> {
    await this.#pending;
    const options = { files: this.#files, omitCalls };
    const { run, header, hashes } = await readStoredRun(this.directory, options);
    const isFinished = run.finishedAt !== undefined && !this.#isChanged;
    if (run.results.length < run.planned || isFinished) return run;
    const finishedAt = this.#now();
    const audit = await createAudit(header, hashes, finishedAt);
    await this.#files.write(
      join(this.directory, RUN_FILES.audit),
      `${JSON.stringify(audit, null, 2)}\n`,
    );
    return { ...run, finishedAt };
  }
}
