/**
 * `#sessions`: lists or searches the saved sessions.
 *
 * @module
 */

import { defineCommand } from "../command/conversation_command.ts";
import { listSessions, searchSessions, showList } from "../command/session_lists.ts";
import { toLine } from "../view/lines.ts";

const NONE = toLine("No session found", "faint");

const CONTINUE_LISTED = "/resume ID or NUMBER continues one";

/** Hits have no numbers. */
const CONTINUE_FOUND = "/resume ID or WORDS continues one";

/** `#sessions`. */
export const sessions = defineCommand({
  names: ["#sessions", "/sessions"],
  argument: "[WORDS]",
  summary: "Lists the saved sessions of the directory, or those with words",
  worksDuringRuns: true,
  async run(argument, context) {
    const { view } = context;
    if (argument === "") {
      const { found, lines } = await listSessions(context);
      const shown = found.length === 0
        ? [NONE, ...lines]
        : [...lines, toLine(CONTINUE_LISTED, "faint")];
      await showList({ found }, shown, context);
    } else {
      const { lines } = await searchSessions(argument, context);
      await view.print(lines.length === 0 ? [NONE] : [...lines, toLine(CONTINUE_FOUND, "faint")]);
    }
  },
});
