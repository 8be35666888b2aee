/**
 * Options of the commands for evaluations.
 *
 * @module
 */

import type { OptionDefinitions, OptionValues } from "../command_line/definition.ts";
import {
  AGENT_OPTIONS,
  CONFIGURATION_OPTIONS,
  DISPLAY_OPTIONS,
  MODEL_OPTIONS,
  PERMISSION_OPTIONS,
} from "./run_options.ts";

/** Directory of the results of evaluations, relative to the current one. */
export const RESULTS_DIRECTORY = ".swink/evals";

/** The option for the directory of the results. */
export const RESULTS_OPTION = {
  results: {
    type: "directory",
    value: "directory",
    description: "Directory of the results, with one directory for each evaluation.",
    default: RESULTS_DIRECTORY,
  },
} as const satisfies OptionDefinitions;

/** Options for reports. */
export const REPORT_OPTIONS = {
  junit: { type: "file", value: "file", description: "Writes a report in JUnit XML." },
  html: {
    type: "file",
    value: "file",
    description: "Writes a report as one web page, with each run call by call.",
  },
  markdown: { type: "file", value: "file", description: "Writes a report in Markdown." },
} as const satisfies OptionDefinitions;

/** The options of `swink eval run`. */
export const EVAL_RUN_OPTIONS = {
  model: {
    ...MODEL_OPTIONS.model,
    description: "Model, as provider/model; the set is run with each one.",
    repeatable: true,
  },
  effort: MODEL_OPTIONS.effort,
  baseUrl: MODEL_OPTIONS.baseUrl,
  filter: {
    type: "string",
    value: "pattern",
    description: "Runs the cases whose id or tag matches; * matches any text.",
    repeatable: true,
  },
  parallel: {
    type: "integer",
    value: "count",
    description: "Number of runs at the same time.",
    minimum: 1,
    default: 4,
  },
  repeat: {
    type: "integer",
    value: "count",
    description: "Number of runs of each case. Default: that of the case.",
    minimum: 1,
  },
  seed: {
    type: "integer",
    value: "number",
    description: "Seed of the randomness of the runs.",
    default: 0,
  },
  chaos: {
    type: "string",
    value: "seeds",
    description:
      "Runs each case with faults of the model and of the tools, once for each seed, such as 1-20 or 3,7.",
    conflicts: ["repeat", "record", "replay"],
  },
  judge: {
    type: "string",
    value: "model",
    description: "Model of the evaluators correctness, faithfulness, tool_use and safety.",
    completer: "models",
  },
  record: {
    type: "directory",
    value: "directory",
    description: "Records the requests of each run, for --replay.",
    conflicts: ["replay"],
  },
  replay: {
    type: "directory",
    value: "directory",
    description: "Answers the requests from a recording, without network and key.",
    conflicts: ["record"],
  },
  resume: {
    type: "string",
    value: "run",
    description: "Continues an evaluation that was interrupted.",
    completer: "eval list",
    conflicts: ["model", "effort", "filter", "repeat", "seed", "chaos"],
  },
  ...REPORT_OPTIONS,
  ...RESULTS_OPTION,
  maxTurns: AGENT_OPTIONS.maxTurns,
  timeout: {
    ...AGENT_OPTIONS.timeout,
    description: "Maximum duration of each run, such as 90s, 10m or 1h. Default: 10m.",
  },
  net: PERMISSION_OPTIONS.net,
  env: PERMISSION_OPTIONS.env,
  sandbox: PERMISSION_OPTIONS.sandbox,
  color: DISPLAY_OPTIONS.color,
  plain: DISPLAY_OPTIONS.plain,
  config: CONFIGURATION_OPTIONS.config,
  strictConfig: CONFIGURATION_OPTIONS.strictConfig,
  bare: {
    ...CONFIGURATION_OPTIONS.bare,
    description: "Loads no configuration file.",
    conflicts: [],
  },
} as const satisfies OptionDefinitions;

const {
  repeat: _repeat,
  chaos: _chaos,
  judge: _judge,
  record: _record,
  replay: _replay,
  ...SHARED
} = EVAL_RUN_OPTIONS;

/** The options of `swink eval patch`. */
export const EVAL_PATCH_OPTIONS = {
  ...SHARED,
  predictions: {
    type: "file",
    value: "file",
    description:
      "Writes the patches to a file for the harness of SWE-bench, one for each task; with several models, to a file for each.",
  },
  noGrade: { type: "boolean", description: "Does not run the tests of the tasks." },
  filter: { ...SHARED.filter, description: "Runs the tasks whose id matches; * matches any text." },
  resume: { ...SHARED.resume, conflicts: ["model", "effort", "filter", "seed"] },
} as const satisfies OptionDefinitions;

/** The values of the options of `swink eval patch`. */
export type EvalPatchOptions = OptionValues<typeof EVAL_PATCH_OPTIONS>;

/** The values of the options of `swink eval run`. */
export type EvalRunOptions = OptionValues<typeof EVAL_RUN_OPTIONS>;

/** The values of the options for reports. */
export type ReportFileOptions = OptionValues<typeof REPORT_OPTIONS>;
