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

/** Ends of the names of reports. */
export const REPORT_NAME = /\.(?:html?|xml|md|markdown|txt)$/i;

/** Starts of reports: of web pages, JUnit XML and Markdown. */
export const REPORT_STARTS: readonly RegExp[] = [
  /^<!DOCTYPE html>\n<html lang="en">\n<head>\n(?:<meta [^\n]*>\n){3}<title>Evaluation of /,
  /^<\?xml [^\n]*\?>\n<testsuites>\n {2}<testsuite id="0" name="([^\n"]*)" package="\1" timestamp="[^\n"]*" hostname="localhost" /,
  /^# Evaluation of [^\n]*\n\n\*\*\d+ passed, \d+ failed/,
];
