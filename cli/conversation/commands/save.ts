/**
 * `#save`: names the session, which is saved all the time.
 *
 * @module
 */

import { CliError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLines } from "../view/lines.ts";

/** `#save`. */
export const save = defineCommand({
  names: ["#save", "/save", "/rename"],
  argument: "[TITLE]",
  summary: "Names the session; it is saved all the time",
  worksDuringRuns: true,
  async run(title, { view, sessions: { session } }) {
    if (!session) {
      throw new CliError("This conversation is not saved", {
        exitCode: ExitCode.failed,
        advice: "/export FILE writes it to a file.",
      });
    }
    if (title !== "") session.append({ type: "title", title });
    await session.flush();
    const name = title === "" ? "" : ` as ${JSON.stringify(title)}`;
    await view.print(toLines(`Saved${name}; swink -r ${session.id} continues it`, "faint"));
  },
});
