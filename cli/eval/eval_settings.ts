/**
 * The settings of an evaluation: its options, checked before anything starts.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors/errors.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { GivenOptions } from "../command_line/definition.ts";
import { UsageError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { configureRun } from "../run/settings/configure_run.ts";
import { resolveNewFile, resolvePath } from "../run/settings/resolve_path.ts";
import { hasThinkingLevel, parseRunSettings, type RunSettings } from "../run/settings/settings.ts";
import { createDefaultOptions } from "../settings/default_options.ts";
import type { EVAL_RUN_OPTIONS, EvalRunOptions } from "../settings/eval_options.ts";
import { RUN_OPTIONS, type RunOptions } from "../settings/run_options.ts";
import type { ReportFiles } from "./write_reports.ts";

/** Default of the time limit of a run. */
const DEFAULT_TIMEOUT = "10m";

/** The settings of an evaluation. */
export interface EvalSettings extends
  Pick<
    EvalRunOptions,
    "filter" | "parallel" | "repeat" | "seed" | "resume"
  > {
  /** Seeds of the faults of the runs; `undefined` for none. */
  readonly seeds?: readonly number[];
  /** The models of the command line, or else that of the configuration, which does not select what is replayed. */
  readonly models: readonly ModelSpec[];
  /** Model of judges. */
  readonly judge?: ModelSpec;
  /** Absolute path of the directory to record in. */
  readonly record?: string;
  /** Absolute path of the directory of the recording. */
  readonly replay?: string;
  /** Absolute path of the directory of the results. */
  readonly results: string;
  /** Absolute paths of the reports. */
  readonly reports: ReportFiles;
  /** The settings of the agents. */
  readonly run: RunSettings;
}

/** The command line of `swink eval run`. */
export type EvalCommandLine = GivenOptions<EvalRunOptions>;

/**
 * Checks the options of an evaluation.
 *
 * @throws {UsageError} If a value is invalid.
 * @throws {ConfigurationError} If the configuration is invalid.
 */
export async function parseEvalSettings(
  { options, given }: EvalCommandLine,
  signal: AbortSignal,
  host: Host,
): Promise<EvalSettings> {
  const { model: names, judge, record, replay, results, chaos, repeat = 1 } = options;
  if (repeat > MAX_REPETITIONS) {
    throw new UsageError(`Option --repeat must be at most ${MAX_REPETITIONS}, not ${repeat}`);
  }
  const configured = await configureRun(
    { options: createRunOptions(options), given, ignoresProject: true },
    signal,
    host,
  );
  // Programs, servers and other models of the user would be part of what is evaluated.
  const { servers: _servers, ...run } = {
    ...parseRunSettings(configured),
    hooks: [],
    fallbackModels: [],
  };
  const { thinkingLevel, ...shared } = run;
  const isReplay = replay !== undefined;
  const parseNamed = (name: string): ModelSpec => {
    const model = parseModel(name, "--model");
    const keepsLevel = hasThinkingLevel(name) && !given.has("effort");
    return thinkingLevel === undefined || keepsLevel ? model : { ...model, thinkingLevel };
  };
  return {
    filter: options.filter,
    parallel: options.parallel,
    repeat: options.repeat,
    seed: options.seed,
    resume: options.resume,
    models: names ? names.map(parseNamed) : run.model && !isReplay ? [run.model] : [],
    ...(judge !== undefined && { judge: parseModel(judge, "--judge") }),
    ...(record !== undefined && { record: resolvePath(record) }),
    ...(isReplay && { replay: resolvePath(replay) }),
    ...(chaos !== undefined && { seeds: parseSeeds(chaos) }),
    results: resolvePath(results),
    reports: parseReportFiles(options),
    run: names || (isReplay && !given.has("effort")) ? shared : run,
  };
}

/**
 * Resolves the paths of reports.
 *
 * @throws {UsageError} If a path is a directory, or its directory does not exist.
 */
export function parseReportFiles(
  options: Pick<EvalRunOptions, "junit" | "html" | "markdown">,
): ReportFiles {
  const resolve = (name: "junit" | "html" | "markdown") => {
    const path = options[name];
    return path === undefined ? {} : { [name]: resolveNewFile(`--${name}`, path) };
  };
  return { ...resolve("junit"), ...resolve("html"), ...resolve("markdown") };
}

/** Returns the options of `swink run` for the agents, with the defaults for those that an evaluation does not have. */
function createRunOptions(options: EvalRunOptions): RunOptions {
  const shared = Object.entries(options).filter(([name]) =>
    name in RUN_OPTIONS && !SEPARATE_OPTIONS.includes(name)
  );
  return {
    ...createDefaultOptions(RUN_OPTIONS),
    ...Object.fromEntries(shared),
    timeout: options.timeout ?? DEFAULT_TIMEOUT,
    noSession: true,
  };
}

/** Options that both commands have with another meaning. */
const SEPARATE_OPTIONS: readonly string[] = [
  "model",
  "record",
  "replay",
  "resume",
] satisfies (keyof typeof EVAL_RUN_OPTIONS)[];

/** Maximum number of repetitions of a case, as in a file. */
const MAX_REPETITIONS = 1_000;

/** Maximum number of seeds, as of repetitions. */
const MAX_SEEDS = MAX_REPETITIONS;

/** Parses seeds, such as `1-20` or `3,7`. */
function parseSeeds(text: string): number[] {
  const seeds = text.split(",").flatMap((part) => {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part.trim()) ?? [];
    const start = Number(first);
    const length = Math.min(Number(last) - start, MAX_SEEDS) + 1;
    return length > 0 ? Array.from({ length }, (_, index) => start + index) : [NaN];
  });
  if (seeds.length <= MAX_SEEDS && seeds.every((seed) => !Number.isNaN(seed))) {
    // A seed that is named twice has the same faults, and would count twice.
    return [...new Set(seeds)];
  }
  throw new UsageError(
    `Invalid value ${
      JSON.stringify(text)
    } for --chaos: must be up to ${MAX_SEEDS} seeds, such as 1-20 or 3,7`,
  );
}

function parseModel(name: string, flag: string): ModelSpec {
  try {
    return modelSpec(name);
  } catch (error) {
    throw new UsageError(
      `Invalid value ${JSON.stringify(name)} for ${flag}: ${getErrorMessage(error)}`,
    );
  }
}
