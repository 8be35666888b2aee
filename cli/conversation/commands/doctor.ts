/**
 * `/doctor`: checks the installation.
 *
 * @module
 */

import { importLate } from "../../host/import_late.ts";
import { captureOutput } from "../command/capture_output.ts";
import { defineCommand } from "../command/conversation_command.ts";

/** `/doctor`. */
export const doctor = defineCommand({
  names: ["/doctor"],
  summary:
    "Checks runtime, configuration, keys, Git, sandbox, MCP servers and directories, with advice",
  worksDuringRuns: true,
  async run(_argument, { view, host }) {
    const { runChecks } = await importLate<typeof import("../../doctor/run_checks.ts")>(
      "../../doctor/run_checks.ts",
      import.meta.url,
    );
    await view.print(await captureOutput(host, (captured) => runChecks(captured)));
  },
});
