/**
 * `swink doctor`: checks the installation.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";

/** `swink doctor`. */
export const doctor = defineCommand({
  name: "doctor",
  summary:
    "Checks runtime, configuration, keys, Git, sandbox, MCP servers and directories, with advice",
  details: "Sends requests only to servers of models on this machine, and prints no key.",
  examples: [["swink doctor", "all checks, with advice"]],
  exitCodes: [ExitCode.ok, ExitCode.failed],
  async action(_invocation, host) {
    const { runChecks } = await importLate<typeof import("../doctor/run_checks.ts")>(
      "../doctor/run_checks.ts",
      import.meta.url,
    );
    const { checkCommands } = await importLate<
      typeof import("../conversation/commands/check_commands.ts")
    >("../conversation/commands/check_commands.ts", import.meta.url);
    return await runChecks(host, { further: [checkCommands] });
  },
});
