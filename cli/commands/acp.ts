/**
 * `swink acp`: the agent for editors that use the Agent Client Protocol.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";
import { ACP_OPTIONS } from "../settings/acp_options.ts";

/** `swink acp`. */
export const acp = defineCommand({
  name: "acp",
  summary: "Serves an editor over standard input and output (Agent Client Protocol)",
  details:
    "Editors such as Zed and JetBrains IDEs start it; docs/acp.md has the lines for their settings. The editor selects the working directory of each session. Problems are written to standard error.",
  options: ACP_OPTIONS,
  examples: [
    ["swink acp", "as the command of an agent in the settings of an editor"],
    ["swink acp -m openai/gpt-6.2-sol --permission-mode acceptEdits", "selects model and mode"],
  ],
  exitCodes: [
    ExitCode.ok,
    ExitCode.failed,
    ExitCode.usage,
    ExitCode.configuration,
    ExitCode.hangUp,
    ExitCode.interrupted,
    ExitCode.quit,
    ExitCode.brokenPipe,
    ExitCode.terminated,
  ],
  preload: () =>
    importLate<typeof import("../acp/serve_editor.ts")>("../acp/serve_editor.ts", import.meta.url),
  async action({ options, given }, host) {
    const { serveEditor } = await importLate<typeof import("../acp/serve_editor.ts")>(
      "../acp/serve_editor.ts",
      import.meta.url,
    );
    return await serveEditor({ options, given }, host);
  },
});
