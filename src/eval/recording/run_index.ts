/**
 * The list of the runs of a recording: a file with one line of JSON for each run.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { parseJsonOrUndefined } from "../../core/json/parse_json.ts";
import { join } from "../../platform/paths.ts";
import { isCutLine } from "../case/cut_line.ts";
import type { EvalFiles } from "../case/eval_files.ts";
import { RECORDING_FILES } from "../case/output_files.ts";

/** A recorded run. */
export interface RecordedRun {
  /** Id of the case. */
  readonly caseId: string;
  /** Number of the repetition, from 1. */
  readonly repetition: number;
  /** Seed of the run. */
  readonly seed: number;
  /** Start of the run, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Name of the model; `undefined` if there was no agent. */
  readonly model?: string | undefined;
  /** Directory of the run; `undefined` if it had none. */
  readonly directory?: string | undefined;
}

/** Removes an incomplete last line, as on a full disk, to which the next run would be added. */
export async function repairRuns(directory: string, files: EvalFiles): Promise<void> {
  const path = join(directory, RECORDING_FILES.index);
  const text = await files.read(path) ?? "";
  const length = text.lastIndexOf("\n") + 1;
  if (!isCutLine(text.slice(length), RECORDING_FILES.indexStart)) return;
  await files.write(path, text.slice(0, length));
}

/** Adds a run to the list. */
export async function appendRun(
  directory: string,
  run: RecordedRun,
  files: EvalFiles,
): Promise<void> {
  await files.append(join(directory, RECORDING_FILES.index), `${JSON.stringify(run)}\n`);
}

/**
 * Reads the runs of a recording. A run that was recorded several times has its last line, also in the order of
 * the runs; an incomplete last line is skipped.
 *
 * @throws {BadRequestError} If there is no recording, or a line is damaged.
 */
export async function readRuns(directory: string, files: EvalFiles): Promise<RecordedRun[]> {
  const path = join(directory, RECORDING_FILES.index);
  const text = await files.read(path);
  if (text === undefined) {
    throw new BadRequestError(
      `There is no recording in "${directory}": record the set first, or name another directory`,
    );
  }
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n").slice(0, -1);
  const runs = lines.map((line, index) => parseRun(line, `${path}:${index + 1}`));
  const latest = new Map<string, RecordedRun>();
  for (const run of runs) {
    const key = `${run.caseId} ${run.repetition}`;
    latest.delete(key);
    latest.set(key, run);
  }
  return [...latest.values()];
}

function parseRun(line: string, place: string): RecordedRun {
  const value = parseJsonOrUndefined(line);
  if (isRecordedRun(value)) return value;
  throw new BadRequestError(`Invalid line at ${place}: record the set again`);
}

function isRecordedRun(value: unknown): value is RecordedRun {
  if (!isJsonObject(value)) return false;
  const { caseId, repetition, seed, startedAt, model, directory } = value;
  return typeof caseId === "string" && typeof repetition === "number" &&
    typeof seed === "number" && typeof startedAt === "number" &&
    (model === undefined || typeof model === "string") &&
    (directory === undefined || typeof directory === "string");
}
