/**
 * The entries of fixtures, without what evaluations write.
 *
 * @module
 */

import type { NamedEntry } from "../../platform/file_calls.ts";
import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { RECORDING_FILES, REPORT_NAME, REPORT_STARTS, RUN_FILES } from "./output_files.ts";

/**
 * Reads a directory of a fixture; `undefined` if it has an evaluation or a recording. A fixture can be the project that has
 * the cases: its results would change it with each run, and show the agent the answers of earlier ones.
 */
export function readFixture(directory: string): readonly NamedEntry[] | undefined {
  const entries = [...system.readDirSync(directory)];
  const names = new Set(entries.map(({ name }) => name));
  return isEvaluation(directory, names) || isRecording(directory, names) ? undefined : entries;
}

function isEvaluation(directory: string, names: ReadonlySet<string>): boolean {
  const { results, lock, header, headerStart } = RUN_FILES;
  if (!names.has(results)) return false;
  return names.has(lock) ||
    (names.has(header) && startsWith(join(directory, header), headerStart));
}

function isRecording(directory: string, names: ReadonlySet<string>): boolean {
  const { index, indexStart, lock } = RECORDING_FILES;
  return names.has(lock) || (names.has(index) && startsWith(join(directory, index), indexStart));
}

/** Bytes in which a report can be recognized. */
const REPORT_START_BYTES = 2_048;

/**
 * Whether a file is a report of an evaluation: in the project that has the cases, it would change the fixture with each
 * evaluation, so that one that was interrupted could not be resumed.
 */
export function isReport(path: string): boolean {
  if (!REPORT_NAME.test(path)) return false;
  const start = readStart(path, REPORT_START_BYTES);
  return REPORT_STARTS.some((pattern) => pattern.test(start));
}

/** Whether a file has a start in ASCII; it can be large. */
function startsWith(path: string, start: string): boolean {
  return readStart(path, start.length) === start;
}

function readStart(path: string, length: number): string {
  using file = system.openSync(path);
  const bytes = new Uint8Array(length);
  const count = file.readSync(bytes) ?? 0;
  return new TextDecoder().decode(bytes.subarray(0, count));
}
