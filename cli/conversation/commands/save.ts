/**
 * `#save`: names the session, which is saved all the time.
 *
 * @module
 */

import { formatResumeCommand } from "../../run/model/session_connection.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { requireSession } from "../command/require_session.ts";
import { toLines } from "../view/lines.ts";

/** `#save`. */
export const save = defineCommand({
  names: ["#save", "/save", "/rename"],
  argument: "[TITLE]",
  summary: "Names the session; it is saved all the time",
  worksDuringRuns: true,
  async run(title, { view, sessions, setup }) {
    const session = requireSession(sessions);
    if (title !== "") session.append({ type: "title", title });
    await session.flush();
    const name = title === "" ? "" : ` as ${JSON.stringify(title)}`;
    await view.print(
      toLines(`Saved${name}; ${formatResumeCommand(session.id, setup)} continues it`, "faint"),
    );
  },
});
