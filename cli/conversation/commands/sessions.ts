/**
 * `#sessions`: lists or searches the saved sessions.
 *
 * @module
 */

import { defineCommand } from "../command/conversation_command.ts";
import { listSessions, searchSessions } from "../command/session_lists.ts";
import { toLine } from "../view/lines.ts";

const CONTINUE_LISTED = "/resume ID or NUMBER continues one";

/** The numbers are those of the complete list. */
const CONTINUE_FOUND = "/resume ID continues one";

/** `#sessions`. */
export const sessions = defineCommand({
  names: ["#sessions", "/sessions"],
  argument: "[WORDS]",
  summary: "Lists the saved sessions of the directory, or those with words",
  worksDuringRuns: true,
  async run(argument, context) {
    const { view } = context;
    const { lines } = argument === ""
      ? await listSessions(context)
      : await searchSessions(argument, context);
    await view.print(
      lines.length === 0
        ? [toLine("No session found", "faint")]
        : [...lines, toLine(argument === "" ? CONTINUE_LISTED : CONTINUE_FOUND, "faint")],
    );
  },
});
