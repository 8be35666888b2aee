/**
 * `swink demo`: a run that needs no key, on a project that needs repair.
 *
 * @module
 */

import { modelSpec } from "../../mod.ts";
import { scriptedFetch } from "../demo/scripted_fetch.ts";
import { createDemoReplies, DEMO_PROMPT } from "../demo/script.ts";
import { createSampleProject } from "../demo/sample_project.ts";
import { findTestRunner } from "../demo/test_runner.ts";
import type { ExitCode } from "../exit_code.ts";
import { runHeadless } from "../headless_run.ts";
import type { Host } from "../host.ts";
import { InterruptHandler } from "../interrupt.ts";
import { getStyle, type Style } from "../render/style.ts";
import { TextReporter } from "../render/text_reporter.ts";
import { wrapText } from "../render/wrap_text.ts";
import { setUpAgent } from "../setup_agent.ts";

/** A pace at which one can read along; a log gets everything at once. */
const TERMINAL_PACE = { frameMs: 30, thinkMs: 350 };
const NO_DELAY = { frameMs: 0, thinkMs: 0 };

/** Shows a run. */
export async function runDemo(host: Host): Promise<ExitCode> {
  const { terminal, env } = host;
  const { output, messages, columns } = terminal;
  const runner = findTestRunner(Deno.execPath(), env("PATH") ?? "");
  const style = getStyle(output, env);
  using interrupt = new InterruptHandler(host);
  await using project = await createSampleProject();
  await using setup = setUpAgent({
    cwd: project.directory,
    model: modelSpec("anthropic/claude-sonnet-5-5"),
    disallowedTools: [],
    approveAll: true,
    net: "off",
    environment: { PATH: runner.path },
  }, {
    ...host,
    env: (name) => name === "ANTHROPIC_API_KEY" ? "scripted" : undefined,
    fetch: scriptedFetch(
      createDemoReplies(runner.command),
      output.isTerminal ? TERMINAL_PACE : NO_DELAY,
    ),
  });
  await output.write(formatIntroduction(style, columns));
  const exitCode = await runHeadless({
    prompt: DEMO_PROMPT,
    cwd: project.directory,
    patch: "-",
    outputFormat: "text",
    setup,
    reporter: new TextReporter({
      text: output,
      lines: messages,
      live: true,
      style: getStyle(messages, env),
      columns,
      now: Date.now,
    }),
    interrupt,
    host,
  });
  if (exitCode === 0) await output.write(formatEpilogue(style, columns));
  return exitCode;
}

function formatIntroduction(style: Style, columns: number): string {
  const says =
    "The model's words are scripted. The rest is real: the agent, its tools, the files, the tests.";
  return `${style.strong("A small project with failing tests, and an agent that repairs it.")}
${formatParagraph(says, columns)}

> ${DEMO_PROMPT}

`;
}

function formatEpilogue(style: Style, columns: number): string {
  const says =
    "Its words came with this program, in the bytes of Anthropic's API. No key was used, " +
    "nothing was sent, and nothing has to be paid for the tokens above.";
  return `
${style.strong("The model was scripted.")}
${formatParagraph(says, columns)}

With a real model, in a project of yours:

  export ANTHROPIC_API_KEY=…
  swink run --approve-all "Make the tests pass"

From a checkout, swink is: deno task swink
More ways to a model: swink run --help
`;
}

function formatParagraph(text: string, columns: number): string {
  return wrapText(text, Math.min(columns, 100)).join("\n");
}
