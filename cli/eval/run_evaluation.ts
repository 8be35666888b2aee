/**
 * The action of `swink eval run`.
 *
 * @module
 */

import type { AgentError, ModelSpec } from "../../mod.ts";
import { loadEvalSet } from "../../src/eval/mod.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { selectTerminal } from "../run/select_terminal.ts";
import { resolvePath } from "../run/settings/resolve_path.ts";
import { createEvaluators } from "./eval_evaluators.ts";
import type { EvalCommandLine } from "./eval_settings.ts";
import { evaluate } from "./evaluate_models.ts";
import { openEvaluation, readUserFiles } from "./open_evaluation.ts";
import { reportRuns } from "./report_runs.ts";
import { formatResumedCommand } from "./resumed_command.ts";
import { selectCases, selectSameCases } from "./select_cases.ts";

/** Runs a set with each model, and prints the results. */
export async function runEvaluation(
  path: string,
  commandLine: EvalCommandLine,
  systemHost: Host,
): Promise<ExitCode> {
  using interrupt = new InterruptHandler(systemHost);
  const host = selectTerminal(systemHost, commandLine.options);
  const { settings, resumed } = await openEvaluation(commandLine, interrupt.signal, host);
  const set = await readUserFiles(async () => {
    const set = await loadEvalSet(resolvePath(path));
    return resumed ? selectSameCases(set, resumed.set) : selectCases(set, settings);
  });
  const formatCommand = () => formatResumedCommand("swink eval run", path, commandLine);
  const dependencies = { interrupt, host, formatCommand };
  const prepare = async (model: ModelSpec, onError: (error: AgentError) => void) => ({
    evaluators: await createEvaluators(set, { settings, model, onError }, host),
  });
  const evaluated = await evaluate({ set, prepare }, settings, dependencies);
  return await reportRuns(evaluated, settings, dependencies);
}
