/**
 * The entries of fixtures, without what evaluations write.
 *
 * @module
 */

import type { NamedEntry } from "../../platform/file_calls.ts";
import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { RECORDING_FILES, RUN_FILES } from "./output_files.ts";

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

/** Whether a file has a start in ASCII; it can be large. */
function startsWith(path: string, start: string): boolean {
  using file = system.openSync(path);
  const bytes = new Uint8Array(start.length);
  const count = file.readSync(bytes) ?? 0;
  return new TextDecoder().decode(bytes.subarray(0, count)) === start;
}
