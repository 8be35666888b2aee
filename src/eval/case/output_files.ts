/**
 * The names of the files that evaluations write.
 *
 * @module
 */

/** Names of the files in the directory of an evaluation, and the start of its header. */
export const RUN_FILES = {
  header: "run.json",
  headerStart: '{\n  "version": 1,',
  results: "results.jsonl",
  audit: "audit.json",
  lock: "writer.lock",
} as const;

/** Names of the files in the directory of a recording, and the start of each line of its list of runs. */
export const RECORDING_FILES = {
  index: "runs.jsonl",
  indexStart: '{"caseId":',
  lock: "recorder.lock",
} as const;
