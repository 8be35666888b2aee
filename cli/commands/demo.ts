/**
 * `swink demo`: shows a run that needs no key.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";

/** `swink demo`. */
export const demo = defineCommand({
  name: "demo",
  summary: "Shows an agent that repairs a small project, with a scripted model",
  details: "Needs no key and no network. The agent, its tools, the files and the tests are real.",
  examples: [["swink demo", "needs no key and no network"]],
  exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.configuration, ExitCode.interrupted],
  action: (_invocation, host) => showDemo(host),
});

/** Shows the demo if a user without a model has chosen that instead of a run; else returns the exit code of the run. */
export async function showChosenDemo(end: ExitCode | "demo", host: Host): Promise<ExitCode> {
  return end === "demo" ? await showDemo(host) : end;
}

async function showDemo(host: Host): Promise<ExitCode> {
  const { runDemo } = await importLate<typeof import("../demo/run_demo.ts")>(
    "../demo/run_demo.ts",
    import.meta.url,
  );
  return await runDemo(host);
}
