/**
 * The end of an evaluation: its table, reports and exit code.
 *
 * @module
 */

import { summarizeRun } from "../../src/eval/mod.ts";
import { join } from "../../src/platform/paths.ts";
import { ExitCode } from "../host/exit_code.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getTableOptions } from "../render/table.ts";
import { resolvePath } from "../run/settings/resolve_path.ts";
import { RESULTS_DIRECTORY } from "../settings/eval_options.ts";
import type { EvalSettings } from "./eval_settings.ts";
import { formatRuns } from "./eval_tables.ts";
import type { EvaluatedModels, EvaluationDependencies } from "./evaluate_models.ts";
import { readHistory } from "./find_run.ts";
import { getModelFileName } from "./model_file_name.ts";
import { formatOption } from "./resumed_command.ts";
import { addModelName, writeReports } from "./write_reports.ts";

/** Dependencies of `reportRuns()`. */
export interface ReportDependencies extends EvaluationDependencies {
  /** Returns the command with its argument and the options that a resumption with a model needs, for advice. */
  readonly formatCommand: (model: string) => string;
}

/**
 * Prints the results, writes the reports, and returns the exit code.
 *
 * @throws The error that ended the evaluation of a model, after the reports of the earlier ones.
 */
export async function reportRuns(
  evaluated: EvaluatedModels,
  settings: EvalSettings,
  dependencies: ReportDependencies,
): Promise<ExitCode> {
  const { runs, failure } = evaluated;
  if (runs.length === 0 && failure) throw failure.error;
  const exitCode = await writeResults(evaluated, settings, dependencies);
  if (failure) throw failure.error;
  return exitCode;
}

async function writeResults(
  { models, runs }: EvaluatedModels,
  { results, reports }: EvalSettings,
  { interrupt, host, formatCommand }: ReportDependencies,
): Promise<ExitCode> {
  const { output, messages } = host.terminal;
  await output.write(formatRuns(runs, getTableOptions(host)));
  for (const run of runs) {
    const files = models.length > 1
      ? addModelName(reports, getModelFileName(run.model ?? "", models))
      : reports;
    const written = await writeReports(run, files, { history: await readHistory(run, results) });
    const paths = [join(results, run.id), ...written].map((path) => toPlainText(path));
    await messages.write(`\nResults: ${paths.join("\n         ")}\n`);
  }
  const interrupted = runs.find(({ results: made, planned }) => made.length < planned);
  if (interrupted) {
    // An evaluation is also found by its path.
    const isDefault = results === resolvePath(RESULTS_DIRECTORY);
    const name = isDefault ? interrupted.id : join(results, interrupted.id);
    const command = formatCommand(interrupted.model ?? "");
    const resumption = [command, formatOption("resume", name)].join(" ");
    await messages.write(`Interrupted; continue with: ${toPlainText(resumption)}\n`);
  }
  // An interrupt between two models leaves complete evaluations, but not all of them.
  if (interrupt.exitCode !== undefined) return interrupt.exitCode;
  const hasFailures = runs.length === 0 || runs.some((run) => summarizeRun(run).failed > 0);
  return interrupted || hasFailures ? ExitCode.failed : ExitCode.ok;
}
