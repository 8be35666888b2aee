/**
 * `/quit`: leaves the program.
 *
 * @module
 */

import { ExitCode } from "../../host/exit_code.ts";
import { defineCommand } from "../command/conversation_command.ts";

/** `/quit`. */
export const quit = defineCommand({
  names: ["/quit", "/q", "/exit"],
  summary: "Leaves the program; the session stays saved",
  key: "Ctrl+Q",
  worksDuringRuns: true,
  run(_argument, { leave }) {
    leave(ExitCode.ok);
  },
});
