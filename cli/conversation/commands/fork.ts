/**
 * `/fork`: continues in a copy of the session.
 *
 * @module
 */

import { CliError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/fork`. */
export const fork = defineCommand({
  names: ["/fork"],
  summary: "Continues in a copy of the session, which stays unchanged",
  async run(_argument, { view, sessions, setup: { agent } }) {
    const id = sessions.session?.id;
    if (id === undefined || agent.state.messages.length === 0) {
      throw new CliError("There is no saved session to copy yet", { exitCode: ExitCode.failed });
    }
    await sessions.switchTo({ type: "existing", id, fork: true });
    const copy = sessions.session?.id ?? "";
    await view.print([toLine(`Continuing in the copy ${copy} of ${id}`, "faint")]);
  },
});
