/**
 * Reports of an evaluation as files.
 *
 * @module
 */

import {
  type EvalRun,
  formatHtmlReport,
  formatJunitReport,
  formatMarkdownReport,
} from "../../src/eval/mod.ts";
import { CliError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import { getFileProblem } from "../host/file_problem.ts";
import { addToFileName } from "./model_file_name.ts";

/** Absolute paths of reports. */
export interface ReportFiles {
  /** JUnit XML. */
  readonly junit?: string;
  /** A web page. */
  readonly html?: string;
  /** Markdown. */
  readonly markdown?: string;
}

/** Options for `writeReports()`. */
export interface WriteReportsOptions {
  /** The evaluation to compare with. Default: none. */
  readonly baseline?: EvalRun | undefined;
  /** The earlier evaluations of the set. */
  readonly history: readonly EvalRun[];
}

/**
 * Writes the reports of an evaluation, and returns their paths.
 *
 * @throws {CliError} If a file cannot be written.
 */
export async function writeReports(
  run: EvalRun,
  { junit, html, markdown }: ReportFiles,
  options: WriteReportsOptions,
): Promise<string[]> {
  const texts = [
    [junit, () => formatJunitReport(run)],
    [html, () => formatHtmlReport(run, options)],
    [markdown, () => formatMarkdownReport(run, options)],
  ] as const;
  const written: string[] = [];
  for (const [path, format] of texts) {
    if (path === undefined) continue;
    await writeFile(path, format());
    written.push(path);
  }
  return written;
}

/** Returns the paths of the reports of one of several models: `report.html` becomes `report.gpt-6.2-sol.html`. */
export function addModelName(files: ReportFiles, name: string): ReportFiles {
  const entries = Object.entries(files).map(([format, path]: [string, string]) => [
    format,
    addToFileName(path, name),
  ]);
  return Object.fromEntries(entries);
}

async function writeFile(path: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(path, text);
  } catch (error) {
    throw new CliError(`Cannot write the report ${path}: ${getFileProblem(error)}`, {
      exitCode: ExitCode.failed,
    });
  }
}
