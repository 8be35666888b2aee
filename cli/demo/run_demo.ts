/**
 * The demo: a run with a scripted model on a small project with failing tests.
 *
 * @module
 */

import { modelSpec } from "../../mod.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { NO_PROJECT } from "../project/load_project.ts";
import { getStyle, type Style } from "../render/style.ts";
import { wrapText } from "../render/wrap_text.ts";
import { setUpAgent } from "../run/agent/setup_agent.ts";
import { runHeadless } from "../run/headless_run.ts";
import { createTextReporter } from "../run/report/run_reporter.ts";
import { createSampleProject } from "./sample_project.ts";
import { createDemoReplies, DEMO_PROMPT } from "./script.ts";
import { createScriptedFetch } from "./scripted_fetch.ts";
import { findTestRunner } from "./test_runner.ts";

/** Delays that let a reader follow the run on a terminal. */
const TERMINAL_PACE = { frameMs: 30, thinkMs: 350 };
const NO_DELAY = { frameMs: 0, thinkMs: 0 };

/** Runs the demo. */
export async function runDemo(host: Host): Promise<ExitCode> {
  const { terminal, env } = host;
  const { output, columns } = terminal;
  const runner = findTestRunner(Deno.execPath(), env("PATH") ?? "");
  const style = getStyle(output, env);
  using interrupt = new InterruptHandler(host);
  await using project = await createSampleProject();
  await using setup = await setUpAgent({
    cwd: project.directory,
    model: modelSpec("anthropic/claude-sonnet-5-5"),
    allowedTools: [],
    disallowedTools: [],
    permissionMode: "bypass",
    net: "off",
    sandbox: "auto",
    environment: { PATH: runner.path },
  }, {
    ...host,
    env: (name) => name === "ANTHROPIC_API_KEY" ? "scripted" : undefined,
    fetch: createScriptedFetch(
      createDemoReplies(runner.command),
      output.isTerminal ? TERMINAL_PACE : NO_DELAY,
    ),
  });
  interrupt.beforeExit(() => setup[Symbol.asyncDispose]());
  const { tools } = setup.agent.state;
  const reporter = createTextReporter(host, {
    text: output,
    live: true,
    verbosity: "normal",
    tools,
  });
  await output.write(formatIntroduction(style, columns));
  const exitCode = await runHeadless({
    prompt: DEMO_PROMPT,
    cwd: project.directory,
    isTemporary: true,
    patch: "-",
    outputFormat: "text",
    net: "off",
    sandbox: "auto",
    project: NO_PROJECT,
    setup,
    createReporter: () => Promise.resolve(reporter),
    interrupt,
    host,
  });
  if (exitCode === 0) await output.write(formatEpilogue(style, columns));
  return exitCode;
}

function formatIntroduction(style: Style, columns: number): string {
  const text = "The replies of the model are scripted. Agent, tools, files and tests are real.";
  return `${style.strong("An agent repairs a small project with failing tests.")}
${formatParagraph(text, columns)}

${formatParagraph(`> ${DEMO_PROMPT}`, columns)}

`;
}

function formatEpilogue(style: Style, columns: number): string {
  const text =
    "Its replies are part of this program, in the format of Anthropic's API. No key was used, no request was sent, " +
    "and the tokens above cost nothing.";
  return `
${style.strong("The model was scripted.")}
${formatParagraph(text, columns)}

With a real model, in your own project:

  export ANTHROPIC_API_KEY=…
  swink run --approve-all "Make the tests pass"

In a checkout, swink is: deno task swink
Other models: swink run --help
`;
}

function formatParagraph(text: string, columns: number): string {
  return wrapText(text, Math.min(columns, 100)).join("\n");
}
