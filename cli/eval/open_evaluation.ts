/**
 * The start of an evaluation: its settings, those of the evaluation that it resumes included.
 *
 * @module
 */

import { AgentError } from "../../src/core/errors/errors.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { EvalRun } from "../../src/eval/mod.ts";
import { UsageError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { type EvalCommandLine, type EvalSettings, parseEvalSettings } from "./eval_settings.ts";
import { findRun } from "./find_run.ts";

/** Settings, and the evaluation that is resumed, if one is. */
export interface OpenedEvaluation {
  readonly settings: EvalSettings;
  readonly resumed: EvalRun | undefined;
}

/**
 * Parses the settings of an evaluation.
 *
 * @throws {UsageError} If an option is invalid, or the evaluation to resume does not exist.
 */
export async function openEvaluation(
  commandLine: EvalCommandLine,
  signal: AbortSignal,
  host: Host,
): Promise<OpenedEvaluation> {
  const settings = await parseEvalSettings(commandLine, signal, host);
  if (settings.resume === undefined) return { settings, resumed: undefined };
  const resumed = await findRun(settings.resume, {
    results: settings.results,
    now: host.now,
  });
  const { model, seed, seeds } = resumed;
  const models = model === undefined ? [] : [modelSpec(model)];
  // The amount of reasoning is that of the resumed model, not of the configuration.
  const { thinkingLevel: _, ...run } = settings.run;
  return { settings: { ...settings, run, models, seed, ...(seeds && { seeds }) }, resumed };
}

/** Calls a function that reads files of the user; its errors are usage errors. */
export async function readUserFiles<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(error.message);
    throw error;
  }
}
