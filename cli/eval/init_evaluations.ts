/**
 * The action of `swink eval init`.
 *
 * @module
 */

import { modelSpec } from "../../src/core/models/model.ts";
import { loadEvalSet, runEvalSet } from "../../src/eval/mod.ts";
import { pathExists } from "../../src/platform/path_exists.ts";
import { dirname, join } from "../../src/platform/paths.ts";
import { createScriptedFetch } from "../demo/scripted_fetch.ts";
import { CliError, ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import { getFileProblem } from "../host/file_problem.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { toPlainText } from "../render/plain_text.ts";
import { resolvePath } from "../run/settings/resolve_path.ts";
import { createDefaultOptions } from "../settings/default_options.ts";
import { EVAL_RUN_OPTIONS } from "../settings/eval_options.ts";
import { DEFAULT_MODELS } from "../settings/run_options.ts";
import { createMakeAgent } from "./case_agent.ts";
import { createEvaluators } from "./eval_evaluators.ts";
import { parseEvalSettings } from "./eval_settings.ts";
import { createExampleFiles, EXAMPLE_REPLIES } from "./example_set.ts";
import { getModelDirectory } from "./model_directories.ts";

/** Writes the example to a new directory, and records it with a scripted model. */
export async function initEvaluations(path: string, host: Host): Promise<ExitCode> {
  using interrupt = new InterruptHandler(host);
  const directory = resolvePath(path);
  if (pathExists(directory)) {
    throw new UsageError(
      `${path} exists already`,
      "Name a new directory: swink eval init DIRECTORY",
    );
  }
  await writeFiles(directory, createExampleFiles(findTestCommand(host.env("PATH") ?? "")));
  await recordExample(directory, interrupt.signal, host);
  if (interrupt.exitCode !== undefined) return interrupt.exitCode;
  await host.terminal.output.write(formatNextSteps(toPlainText(path)));
  return ExitCode.ok;
}

/** Returns the command that runs the tests of the fixture: with deno or node, else a comparison of the code. */
function findTestCommand(path: string): string {
  const directories = path.split(Deno.build.os === "windows" ? ";" : ":");
  const isInstalled = (name: string) =>
    directories.some((directory) => pathExists(join(directory, name)));
  if (isInstalled("node") || isInstalled("node.exe")) return "node --test";
  if (isInstalled("deno") || isInstalled("deno.exe")) return "deno test";
  return "grep -q 'item.price \\\\* item.quantity' cart.mjs && grep -q 'value >= ' cart.mjs";
}

async function writeFiles(
  directory: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(directory, name);
      await Deno.mkdir(dirname(path), { recursive: true });
      await Deno.writeTextFile(path, text);
    }
  } catch (error) {
    throw new ConfigurationError(`Cannot write to ${directory}: ${getFileProblem(error)}`);
  }
}

/** Records the example, so that it can be run without a key, with the system prompt and the tools of this version. */
async function recordExample(directory: string, signal: AbortSignal, host: Host): Promise<void> {
  const scripted: Host = {
    ...host,
    env: (name) => name === "ANTHROPIC_API_KEY" ? "scripted" : host.env(name),
    fetch: createScriptedFetch(EXAMPLE_REPLIES, { frameMs: 0, thinkMs: 0 }),
  };
  const options = { ...createDefaultOptions(EVAL_RUN_OPTIONS), bare: true };
  const settings = await parseEvalSettings({ options, given: new Set() }, signal, scripted);
  const set = await loadEvalSet(join(directory, "cases.yaml"));
  const model = modelSpec(DEFAULT_MODELS[0]);
  const onStart = () => {};
  const makeAgent = createMakeAgent(
    { settings, model, signal, onStart, onError: onStart },
    scripted,
  );
  const { results } = await runEvalSet(set, makeAgent, {
    record: getModelDirectory(join(directory, "recording"), model),
    fetch: scripted.fetch,
    evaluators: await createEvaluators(set, { settings, model, onError: () => {} }, scripted),
    now: host.now,
    signal,
  });
  const failed = results.find(({ outcome }) => outcome === "failed");
  const score = failed?.scores.find(({ passed }) => !passed);
  if (!failed || !score) return;
  throw new CliError(
    `The case ${failed.caseId} of the example failed: ${score.metric}: ${score.reason ?? ""}`,
    { exitCode: ExitCode.failed },
  );
}

function formatNextSteps(directory: string): string {
  return `${directory}/cases.yaml         3 cases: a question, a repair and a conversation
${directory}/cases.schema.json  their JSON Schema, for editors
${directory}/project            the fixture, of which each run has a copy
${directory}/recording          a recording of a scripted model

Run the cases without a key, from the recording:

  swink eval run ${directory}/cases.yaml --replay ${directory}/recording

With a model, and a web page of the results:

  swink eval run ${directory}/cases.yaml -m ${DEFAULT_MODELS[0]} --html report.html
`;
}
