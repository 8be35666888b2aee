/**
 * The configuration of a run. A user at a terminal who has no model yet is asked for one.
 *
 * @module
 */

import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { findKeyboard } from "../host/terminal.ts";
import { createNoModelError, findModel } from "./model/model_choice.ts";
import type { PipedFileOptions } from "./prompt/piped_files.ts";
import { type ConfiguredRun, configureRun, type RunCommandLine } from "./settings/configure_run.ts";
import { parseRunSettings, type RunSettings } from "./settings/settings.ts";

/** A run that can start, or how the questions ended. */
export type PreparedRun =
  | { readonly type: "ready"; readonly configured: ConfiguredRun; readonly settings: RunSettings }
  | { readonly type: "ended"; readonly end: ExitCode | "demo" };

/** Dependencies of `prepareRun()`. */
export interface PrepareRunOptions {
  /** Whether there is a prompt; without one, the run fails before it needs a model. */
  readonly hasPrompt: boolean;
  /** Closes the questions. */
  readonly interrupt: InterruptHandler;
  /** Terminal, environment and network. */
  readonly host: Host;
  /** The content of the pipes of the command line that were read already, by path. Default: none was. */
  readonly contents?: PipedFileOptions["contents"];
}

/**
 * Configures a run, and asks for a model if none is configured and the user can answer.
 *
 * @throws {UsageError} If an option is invalid.
 * @throws {ConfigurationError} If the configuration is invalid, or the user has declined to select a model.
 */
export async function prepareRun(
  commandLine: RunCommandLine,
  { hasPrompt, interrupt, host, contents = new Map() }: PrepareRunOptions,
): Promise<PreparedRun> {
  const { signal } = interrupt;
  const configured = await readFiles(await configureRun(commandLine, signal, host), {
    signal,
    contents,
  });
  // The user has interrupted the question about the project, or the wait for a pipe.
  if (interrupt.exitCode !== undefined) return { type: "ended", end: interrupt.exitCode };
  const settings = parseRunSettings(configured);
  if (!hasPrompt || !await isModelMissing(configured, settings, host)) {
    return { type: "ready", configured, settings };
  }
  const end = await askForModel(configured, interrupt, host);
  if (end !== undefined) return { type: "ended", end };
  return await prepareRun(commandLine, { hasPrompt: false, interrupt, host, contents });
}

/** Reads the files of the command line that are pipes, whose code is loaded if there may be any. */
async function readFiles(
  configured: ConfiguredRun,
  options: PipedFileOptions,
): Promise<ConfiguredRun> {
  const { systemFile, jsonSchema, mcpConfig } = configured.options;
  if ([systemFile, jsonSchema, mcpConfig].every((file) => file === undefined)) return configured;
  const { readPipedFiles } = await importLate<typeof import("./prompt/piped_files.ts")>(
    "./prompt/piped_files.ts",
    import.meta.url,
  );
  return await readPipedFiles(configured, options);
}

/** Whether a run has no model and the user can be asked for one. Scripts get an error instead. */
async function isModelMissing(
  { options: { bare, dryRun } }: ConfiguredRun,
  settings: RunSettings,
  host: Host,
): Promise<boolean> {
  const { session, inputFormat, outputFormat, baseUrl, replay } = settings;
  if (!findKeyboard(host.terminal) || bare || dryRun) return false;
  if (inputFormat !== "text" || outputFormat !== "text") return false;
  if (baseUrl !== undefined || replay !== undefined) return false;
  // A session that exists has a model of its own.
  if (["last", "existing", "asked"].includes(session.type)) return false;
  return await findModel(settings, host) === undefined;
}

/** Asks for a model; returns how the questions ended unless a model is saved. */
async function askForModel(
  { providers }: ConfiguredRun,
  interrupt: InterruptHandler,
  host: Host,
): Promise<ExitCode | "demo" | undefined> {
  const { askForModel } = await importLate<typeof import("../wizard/model_wizard.ts")>(
    "../wizard/model_wizard.ts",
    import.meta.url,
  );
  const end = await askForModel({ providers, signal: interrupt.signal }, host);
  switch (end) {
    case "saved":
      return undefined;
    case "demo":
      return "demo";
    case "closed":
      return interrupt.exitCode ?? ExitCode.interrupted;
    case "quit":
      throw createNoModelError();
  }
}
