/**
 * `/resume`: continues a saved session.
 *
 * @module
 */

import { ConfigurationError, UsageError } from "../../host/cli_error.ts";
import { FORK_ADVICE } from "../../sessions/session_choice.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { selectSession } from "../command/select_session.ts";
import { listLastSessions } from "../command/session_lists.ts";

/** `/resume`. */
export const resume = defineCommand({
  names: ["/resume", "#load", "/load"],
  argument: "[ID|WORDS]",
  summary: "Continues a saved session, by its id, its number in the list, or words in it",
  completesByDetail: true,
  async complete(context) {
    const { found, titles } = await listLastSessions(context);
    return found.map(({ id: text }, index) => ({ text, detail: titles[index] }));
  },
  async run(argument, context) {
    const { sessions, printHistory, view } = context;
    const id = await selectSession(argument, context);
    if (id === undefined) return;
    if (id === sessions.session?.id && !sessions.isLost) {
      throw new UsageError("This session is open already");
    }
    await sessions.switchTo({ type: "existing", id, fork: false })
      .catch((error) => Promise.reject(adviseCopy(error, id)));
    view.redraw();
    await printHistory();
  },
});

/** Advises the command for a copy of a session that is open elsewhere, since `/resume` has no option for it. */
function adviseCopy(error: unknown, id: string): unknown {
  const isLocked = error instanceof ConfigurationError && error.advice === FORK_ADVICE;
  if (!isLocked) return error;
  return new ConfigurationError(
    error.message,
    `Continue in a copy: leave, and start swink -r ${id} --fork`,
  );
}
