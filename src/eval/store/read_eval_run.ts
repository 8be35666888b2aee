/**
 * Reads evaluations from disk.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { type EvalFiles, localEvalFiles } from "../case/eval_files.ts";
import { RUN_FILES } from "../case/output_files.ts";
import type { CaseResult } from "../run/case_result.ts";
import type { EvalRun, EvalRunHeader } from "./eval_run.ts";
import {
  type ReadLines,
  type ReadLinesOptions,
  readResultLines,
  type StoredResult,
} from "./result_lines.ts";
import { createAudit, readAudit, readHeader, type RunAudit } from "./run_files.ts";

/** Options for functions that read evaluations. */
export interface ReadFilesOptions {
  /** File access. Default: the file system. */
  readonly files?: EvalFiles | undefined;
}

/** Options for `readEvalRun()`. */
export interface ReadEvalRunOptions extends ReadFilesOptions {
  /**
   * Omits the calls, the replies and the answers of the results, so that memory does not grow with them. Default: `false`.
   */
  readonly omitCalls?: boolean | undefined;
}

/**
 * Reads an evaluation from its directory. Damaged results are missing in it, and listed as its damage.
 *
 * @throws {BadRequestError} If the directory has no evaluation, or its header is damaged.
 */
export async function readEvalRun(
  directory: string,
  options: ReadEvalRunOptions = {},
): Promise<EvalRun> {
  return (await readStoredRun(directory, options)).run;
}

/** An evaluation, with the hashes that its audit needs. */
export interface StoredRun {
  readonly run: EvalRun;
  readonly header: EvalRunHeader;
  /** Hashes of the results, in their order. */
  readonly hashes: readonly string[];
  readonly audit: RunAudit | undefined;
}

/** Reads an evaluation with its hashes. */
export async function readStoredRun(
  directory: string,
  { files = localEvalFiles, omitCalls = false }: ReadEvalRunOptions,
): Promise<StoredRun> {
  const header = await readHeader(directory, files);
  const lines = await readLines(directory, files, { omitCalls });
  const planned = listPlanned(header);
  const audit = await readAudit(directory, files);
  const stored = sortResults(lines.results, planned);
  const run: EvalRun = {
    ...header,
    setId: header.set.id,
    results: stored.map(({ result }) => result),
    planned: planned.length,
    finishedAt: stored.length === planned.length ? audit?.finishedAt : undefined,
    damage: describeDamage(directory, lines),
  };
  return { run, header, hashes: stored.map(({ hash }) => hash), audit };
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
  options: ReadFilesOptions = {},
): Promise<RunVerification> {
  const stored = await readStoredRun(directory, { ...options, omitCalls: true });
  const { run, header, hashes, audit } = stored;
  const problems = [...run.damage];
  const missing = run.planned - run.results.length;
  if (missing > 0) problems.push(`${missing} of ${run.planned} results are missing`);
  if (!audit) {
    problems.push(
      `"${join(directory, RUN_FILES.audit)}" is missing, damaged or of another version`,
    );
  } else if (missing === 0) {
    const { hash } = await createAudit(header, hashes, audit.finishedAt);
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
  { files = localEvalFiles }: ReadFilesOptions = {},
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
  options: ReadEvalRunOptions = {},
): Promise<EvalRun[]> {
  const runs: EvalRun[] = [];
  for (const { id } of await listEvalRunHeaders(directory, options)) {
    const run = await readEvalRun(join(directory, id), options).catch(() => undefined);
    if (run) runs.push(run);
  }
  return runs;
}

/** Reads the lines with the results. */
export async function readLines(
  directory: string,
  files: EvalFiles,
  options: ReadLinesOptions,
): Promise<ReadLines> {
  return await readResultLines(files.readLines(join(directory, RUN_FILES.results)), options);
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
function sortResults(
  results: readonly StoredResult[],
  planned: readonly RunKey[],
): StoredResult[] {
  const toKey = ({ caseId, repetition }: RunKey) => `${caseId} ${repetition}`;
  const known = new Map(results.map((stored) => [toKey(stored.result), stored]));
  return planned.flatMap((run) => known.get(toKey(run)) ?? []);
}
