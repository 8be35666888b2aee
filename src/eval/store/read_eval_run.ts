/**
 * Reads evaluations from disk.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { type EvalFiles, localEvalFiles } from "../case/eval_files.ts";
import type { CaseResult } from "../run/case_result.ts";
import type { EvalRun, EvalRunHeader } from "./eval_run.ts";
import { type ReadLines, readResultLines } from "./result_lines.ts";
import { hashRun, readAudit, readHeader, RUN_FILES } from "./run_files.ts";

/** Options for functions that read evaluations. */
export interface ReadEvalRunOptions {
  /** File access. Default: the file system. */
  readonly files?: EvalFiles | undefined;
}

/**
 * Reads an evaluation from its directory. Damaged results are missing in it, and listed as its damage.
 *
 * @throws {BadRequestError} If the directory has no evaluation, or its header is damaged.
 */
export async function readEvalRun(
  directory: string,
  { files = localEvalFiles }: ReadEvalRunOptions = {},
): Promise<EvalRun> {
  const header = await readHeader(directory, files);
  const lines = await readLines(directory, files);
  const planned = listPlanned(header);
  const audit = await readAudit(directory, files);
  const results = sortResults(lines.results, planned);
  return {
    ...header,
    setId: header.set.id,
    results,
    planned: planned.length,
    finishedAt: results.length === planned.length ? audit?.finishedAt : undefined,
    damage: describeDamage(directory, lines),
  };
}

/** The result of `verifyEvalRun()`. */
export interface RunVerification {
  /** Whether the evaluation is complete and unchanged. */
  readonly isValid: boolean;
  /** The problems, as sentences without a period. */
  readonly problems: readonly string[];
}

/**
 * Verifies that an evaluation on disk is complete, and that neither its header nor its results have changed since it was
 * finished. It detects damage and edits of single files; it is no signature, since an editor can replace the hash, too.
 *
 * @throws {BadRequestError} If the directory has no evaluation, or its header is damaged.
 */
export async function verifyEvalRun(
  directory: string,
  { files = localEvalFiles }: ReadEvalRunOptions = {},
): Promise<RunVerification> {
  const run = await readEvalRun(directory, { files });
  const problems = [...run.damage];
  const missing = run.planned - run.results.length;
  if (missing > 0) problems.push(`${missing} of ${run.planned} results are missing`);
  const audit = await readAudit(directory, files);
  if (!audit) {
    problems.push(`"${join(directory, RUN_FILES.audit)}" is missing or damaged`);
  } else if (missing === 0) {
    const header = await readHeader(directory, files);
    const hash = await hashRun(header, run.results, audit.finishedAt);
    if (hash !== audit.hash) problems.push("The hash is not that of the header and the results");
  }
  return { isValid: problems.length === 0, problems };
}

/**
 * Reads the headers of the evaluations in the directories of a directory, the oldest first, without their results.
 * Directories without a readable evaluation are skipped.
 */
export async function listEvalRunHeaders(
  directory: string,
  { files = localEvalFiles }: ReadEvalRunOptions = {},
): Promise<EvalRunHeader[]> {
  const headers: EvalRunHeader[] = [];
  for (const name of await files.list(directory)) {
    const header = await readHeader(join(directory, name), files).catch(() => undefined);
    if (header) headers.push(header);
  }
  return headers.sort((left, right) =>
    left.startedAt - right.startedAt || (left.id < right.id ? -1 : 1)
  );
}

/**
 * Reads the evaluations in the directories of a directory, the oldest first. Directories without a readable evaluation are
 * skipped.
 */
export async function listEvalRuns(
  directory: string,
  { files = localEvalFiles }: ReadEvalRunOptions = {},
): Promise<EvalRun[]> {
  const runs: EvalRun[] = [];
  for (const { id } of await listEvalRunHeaders(directory, { files })) {
    const run = await readEvalRun(join(directory, id), { files }).catch(() => undefined);
    if (run) runs.push(run);
  }
  return runs;
}

/** Reads the lines with the results. */
export async function readLines(directory: string, files: EvalFiles): Promise<ReadLines> {
  return await readResultLines(await files.read(join(directory, RUN_FILES.results)) ?? "");
}

function describeDamage(directory: string, { damaged, isCut }: ReadLines): string[] {
  const path = join(directory, RUN_FILES.results);
  const lines = damaged.map((line) => `${path}:${line}: the result is damaged`);
  return isCut ? [...lines, `${path}: the last line is incomplete`] : lines;
}

/** A run of a case. */
type RunKey = Pick<CaseResult, "caseId" | "repetition">;

function listPlanned({ set, seeds }: EvalRunHeader): RunKey[] {
  return set.cases.flatMap(({ id: caseId, repetitions = 1 }) =>
    Array.from(
      { length: seeds?.length ?? repetitions },
      (_, index) => ({ caseId, repetition: index + 1 }),
    )
  );
}

/** Returns the results of planned runs in their order. */
function sortResults(results: readonly CaseResult[], planned: readonly RunKey[]): CaseResult[] {
  const toKey = ({ caseId, repetition }: RunKey) => `${caseId} ${repetition}`;
  const known = new Map(results.map((result) => [toKey(result), result]));
  return planned.flatMap((run) => known.get(toKey(run)) ?? []);
}
