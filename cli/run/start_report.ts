/**
 * The report of the start of a run.
 *
 * @module
 */

import { VERSION } from "../host/version.ts";
import type { Reporter } from "../render/reporter.ts";
import { createConfinementWarning } from "./confinement_warning.ts";
import { toRunSandbox } from "./run_sandbox.ts";
import type { ProjectRunSettings } from "./settings.ts";
import type { AgentSetup } from "./setup_agent.ts";

/** Options for `reportStart()`. */
export interface StartReportOptions
  extends Pick<ProjectRunSettings, "cwd" | "net" | "sandbox" | "project"> {
  /** The agent and its tools. */
  readonly setup: Pick<
    AgentSetup,
    "agent" | "approvalMode" | "isInteractive" | "describeSandbox"
  >;
}

/** Reports the properties of a run, and warns if a tool runs commands that are not confined. */
export async function reportStart(
  reporter: Reporter,
  { setup, cwd, net, sandbox: mode, project }: StartReportOptions,
): Promise<void> {
  const { agent, approvalMode, isInteractive } = setup;
  const { model, tools } = agent.state;
  const names = tools.map(({ name }) => name);
  const report = await setup.describeSandbox();
  await reporter.onRunStart({
    version: VERSION,
    cwd,
    model,
    tools: names,
    approvalMode,
    isInteractive,
    net,
    sandbox: toRunSandbox(mode, report),
    project: { root: project.root, loaded: project.loaded, ignored: project.ignored },
  });
  for (const problem of project.problems) await reporter.onNotice(`warning: ${problem}`);
  const warning = names.includes("bash") ? createConfinementWarning(mode, report) : undefined;
  if (warning !== undefined) await reporter.onNotice(warning);
}
