/**
 * `swink eval`: evaluates agents.
 *
 * @module
 */

import { type ArgumentDefinition, defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";
import {
  EVAL_PATCH_OPTIONS,
  EVAL_RUN_OPTIONS,
  REPORT_OPTIONS,
  RESULTS_OPTION,
} from "../settings/eval_options.ts";
import { LIST_FORMAT_OPTIONS } from "../settings/list_options.ts";

const { ok, failed, usage, configuration, interrupted, terminated } = ExitCode;

const RUN: ArgumentDefinition = {
  name: "run",
  description:
    "The evaluation: its name, the beginning of it, latest, or the path of its directory.",
  completer: "eval list",
};

const BASELINE = {
  type: "string",
  value: "run",
  description: "The evaluation to compare with.",
  completer: "eval list",
} as const;

const run = defineCommand({
  name: "run",
  summary: "Runs the cases of a set with one or more models",
  details:
    "Each case runs in a new copy of its fixture, with the tools and the sandbox of swink run.",
  arguments: [{ name: "set", description: "File with the cases: YAML or JSON.", isFile: true }],
  options: EVAL_RUN_OPTIONS,
  examples: [
    ["swink eval run evals/cases.yaml -m openai/gpt-6.2-sol --repeat 5", "five runs of each case"],
    ["swink eval run evals/cases.yaml --replay evals/recording", "without network and key"],
    ["swink eval run evals/cases.yaml --filter 'fix_*' --html report.html", "with a report"],
  ],
  exitCodes: [ok, failed, usage, configuration, interrupted, terminated],
  async action({ options, given, arguments: [path = ""] }, host) {
    const { runEvaluation } = await importLate<typeof import("../eval/run_evaluation.ts")>(
      "../eval/run_evaluation.ts",
      import.meta.url,
    );
    return await runEvaluation(path, { options, given }, host);
  },
});

const patch = defineCommand({
  name: "patch",
  summary: "Lets agents solve issues in repositories, and grades their patches",
  details:
    "Each task is checked out at its commit, without the later history. Its tests grade the patch in another checkout.",
  arguments: [{
    name: "tasks",
    description: "File with a task as JSON in each line, in the format of SWE-bench.",
    isFile: true,
  }],
  options: EVAL_PATCH_OPTIONS,
  examples: [
    ["swink eval patch tasks.jsonl --predictions predictions.jsonl", "one model, graded here"],
  ],
  exitCodes: [ok, failed, usage, configuration, interrupted, terminated],
  async action({ options, given, arguments: [path = ""] }, host) {
    const { runPatchTasks } = await importLate<typeof import("../eval/run_patch_tasks.ts")>(
      "../eval/run_patch_tasks.ts",
      import.meta.url,
    );
    return await runPatchTasks(path, { options, given }, host);
  },
});

const compare = defineCommand({
  name: "compare",
  summary: "Lists the metrics that regressed or were fixed between two evaluations",
  details: "Fails if one regressed or is missing.",
  arguments: [{ ...RUN, name: "before" }, { ...RUN, name: "after" }],
  options: { ...LIST_FORMAT_OPTIONS, ...RESULTS_OPTION },
  examples: [["swink eval compare before latest", "which cases changed, and whether by chance"]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ options, arguments: [before = "", after = ""] }, host) {
    const { compareEvaluations } = await loadActions();
    return await compareEvaluations(before, after, { options, host });
  },
});

const gate = defineCommand({
  name: "gate",
  summary: "Passes or fails evaluations by limits, for scripts",
  details:
    "Every evaluation must pass. Without --min-pass-rate, --min-score and --baseline, all runs must pass. An evaluation with missing results fails.",
  arguments: [{ ...RUN, variadic: true }],
  options: {
    minPassRate: {
      type: "number",
      value: "rate",
      description: "Lowest share of the runs that passed, from 0 to 1.",
      minimum: 0,
    },
    minScore: {
      type: "number",
      value: "score",
      description: "Lowest mean of all scores, from 0 to 1.",
      minimum: 0,
    },
    maxCost: {
      type: "number",
      value: "dollars",
      description: "Highest cost of all runs; an unknown cost fails.",
      minimum: 0,
    },
    maxDuration: {
      type: "number",
      value: "seconds",
      description: "Highest duration of a run.",
      minimum: 0,
    },
    baseline: {
      ...BASELINE,
      description: "Evaluation to compare with: no metric that passed in it may fail.",
    },
    ...LIST_FORMAT_OPTIONS,
    ...RESULTS_OPTION,
  },
  examples: [["swink eval gate latest --baseline release --max-cost 5", "before a release"]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ options, arguments: names }, host) {
    const { gateEvaluations } = await loadActions();
    return await gateEvaluations(names, options, host);
  },
});

const report = defineCommand({
  name: "report",
  summary: "Prints an evaluation as a table, or writes reports",
  details:
    "The web page has charts over the earlier evaluations of the same set with the same model.",
  arguments: [RUN],
  options: { ...REPORT_OPTIONS, baseline: BASELINE, ...RESULTS_OPTION },
  examples: [["swink eval report latest --junit report.xml", "for a CI server"]],
  exitCodes: [ok, usage, configuration],
  async action({ options, arguments: [name = ""] }, host) {
    const { reportEvaluation } = await loadActions();
    return await reportEvaluation(name, options, host);
  },
});

const list = defineCommand({
  name: "list",
  summary: "Lists the evaluations, the last one first",
  options: { ...LIST_FORMAT_OPTIONS, ...RESULTS_OPTION },
  examples: [["swink eval list", "the latest first"]],
  exitCodes: [ok, usage],
  async action({ options }, host) {
    const { listEvaluations } = await loadActions();
    return await listEvaluations(options, host);
  },
});

const verify = defineCommand({
  name: "verify",
  summary: "Checks that an evaluation is complete and unchanged since it was finished",
  arguments: [RUN],
  options: RESULTS_OPTION,
  examples: [["swink eval verify latest", "fails if a file was changed"]],
  exitCodes: [ok, failed, usage],
  async action({ options, arguments: [name = ""] }, host) {
    const { verifyEvaluation } = await loadActions();
    return await verifyEvaluation(name, options, host);
  },
});

const init = defineCommand({
  name: "init",
  summary: "Writes a set with cases, a fixture and a recording to start from",
  arguments: [{
    name: "directory",
    description: "New directory. Default: evals.",
    optional: true,
    isFile: true,
  }],
  examples: [["swink eval init", "writes a set that runs without a key"]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ arguments: [directory = "evals"] }, host) {
    const { initEvaluations } = await importLate<typeof import("../eval/init_evaluations.ts")>(
      "../eval/init_evaluations.ts",
      import.meta.url,
    );
    return await initEvaluations(directory, host);
  },
});

/** `swink eval`. */
export const evaluation = defineCommand({
  name: "eval",
  summary: "Evaluates agents: runs cases, compares results and gates releases",
  synonyms: { show: "report", ls: "list", results: "list", diff: "compare", check: "verify" },
  commands: [run, patch, compare, gate, report, list, verify, init],
  exitCodes: [ok, failed, usage, configuration],
});

function loadActions(): Promise<typeof import("../eval/eval_actions.ts")> {
  return importLate("../eval/eval_actions.ts", import.meta.url);
}
